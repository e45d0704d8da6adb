#include "halo/train/weights.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "halo/base/error.hpp"
#include "halo/base/ids.hpp"
#include "halo/datasets/atomic_file.hpp"
#include "safetensors.hpp"

namespace halo::train {
namespace {

/// Counter of torch's batch norm.
constexpr std::string_view kIgnored = "num_batches_tracked";

/// x [rows x cols], row-major, as [cols x rows].
std::vector<float> transposed(std::span<const float> x, std::int64_t rows, std::int64_t cols) {
  std::vector<float> y(x.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) y[at(c * rows + r)] = x[at(r * cols + c)];
  }
  return y;
}

template <typename T>
std::span<T> part_of(const nn::Parameter& parameter, std::span<T> flat) {
  return flat.subspan(at(parameter.offset), at(parameter.size()));
}

using TensorsByName = std::map<std::string, const Tensor*>;

TensorsByName by_name(const Safetensors& content) {
  TensorsByName named;
  for (const Tensor& tensor : content.tensors) {
    if (!tensor.name.ends_with(kIgnored)) named[tensor.name] = &tensor;
  }
  return named;
}

/// What keeps the file from being the model's, one phrase each.
std::vector<std::string> differences(const TensorsByName& in_file, const nn::Program& program) {
  std::vector<std::string> phrases;
  TensorsByName left = in_file;
  for (const nn::Parameter& parameter : program.parameters) {
    const auto place = left.find(parameter.name);
    const std::string shape = fmt::format("[{}]", fmt::join(parameter.file_shape, ", "));
    if (place == left.end()) {
      phrases.push_back(fmt::format("{} {} is missing", parameter.name, shape));
      continue;
    }
    const Tensor& tensor = *place->second;
    left.erase(place);
    if (tensor.shape == parameter.file_shape) continue;
    phrases.push_back(
        fmt::format("{} is [{}], the model has {}", parameter.name, fmt::join(tensor.shape, ", "), shape));
  }
  for (const auto& [name, tensor] : left) {
    phrases.push_back(fmt::format("{} [{}] is not in the model", name, fmt::join(tensor->shape, ", ")));
  }
  return phrases;
}

void check_finite(const std::filesystem::path& file, const std::string& name, std::span<const float> values) {
  const auto bad = std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  if (bad == values.end()) return;
  throw InputError({.what = "a weight is not a finite float32 number",
                    .where = fmt::format("{}, tensor {}", file.string(), name),
                    .found = fmt::format("{} at element {}", *bad, bad - values.begin()),
                    .expected = "finite numbers",
                    .next = ""});
}

}  // namespace

void write_weights_file(const std::filesystem::path& file, const nn::Program& program,
                        std::span<const float> parameters) {
  std::vector<Tensor> tensors;
  for (const nn::Parameter& parameter : program.parameters) {
    tensors.push_back({.name = parameter.name, .dtype = "F32", .shape = parameter.file_shape});
  }
  const std::string header = make_safetensors_header(tensors);
  datasets::AtomicFile out(file);
  out.write(header.data(), header.size());
  for (const nn::Parameter& parameter : program.parameters) {
    const auto values = part_of(parameter, parameters);
    if (parameter.transpose_in_file) {
      const auto stored = transposed(values, parameter.rows, parameter.cols);
      out.write(stored.data(), stored.size() * sizeof(float));
    } else {
      out.write(values.data(), values.size_bytes());
    }
  }
  out.commit();
}

void read_weights_file(const std::filesystem::path& file, const nn::Program& program,
                       std::span<float> parameters) {
  const Safetensors content = read_safetensors(file);
  const TensorsByName in_file = by_name(content);
  const auto problems = differences(in_file, program);
  if (!problems.empty()) {
    throw InputError({.what = "the weights are not those of the model",
                      .where = file.string(),
                      .found = fmt::format("{}", fmt::join(problems, "; ")),
                      .expected = fmt::format("the {} tensors of the model", program.parameters.size()),
                      .next = "give the options of the model that the weights were trained with"});
  }
  std::vector<float> flat(parameters.begin(), parameters.end());
  for (const nn::Parameter& parameter : program.parameters) {
    auto values = values_of(content, *in_file.at(parameter.name), file);
    check_finite(file, parameter.name, values);
    if (parameter.transpose_in_file) values = transposed(values, parameter.cols, parameter.rows);
    std::copy(values.begin(), values.end(), part_of(parameter, std::span(flat)).begin());
  }
  std::copy(flat.begin(), flat.end(), parameters.begin());
}

void load_weights(const mpi::Communicator& communicator, const std::filesystem::path& file,
                  const nn::Program& program, std::span<float> parameters) {
  communicator.agree([&] {
    if (communicator.rank() == 0) read_weights_file(file, program, parameters);
  });
  communicator.broadcast(std::as_writable_bytes(parameters), 0);
}

}  // namespace halo::train
