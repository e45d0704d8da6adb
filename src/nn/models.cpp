#include "halo/nn/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "halo/base/counter_rng.hpp"
#include "halo/base/error.hpp"

namespace halo::nn {
namespace {

/// Adds one layer: x -> pre-activation of `cols` columns.
using LayerBuilder = std::function<ValueId(Program&, ValueId x, std::int64_t cols, int layer)>;

ParameterId weight(Program& program, const char* name, ValueId x, std::int64_t cols, int layer) {
  return program.add_parameter(fmt::format("layers.{}.{}", layer, name), program.cols(x), cols, layer, false);
}

ParameterId bias(Program& program, std::int64_t cols, int layer) {
  return program.add_parameter(fmt::format("layers.{}.bias", layer), 1, cols, layer, true);
}

ValueId gcn_layer(Program& program, ValueId x, std::int64_t cols, int layer) {
  const ValueId product = program.linear(x, weight(program, "weight", x, cols, layer));
  return program.add_bias(program.aggregate(product, Aggregation::kGcn), bias(program, cols, layer));
}

ValueId sage_layer(Program& program, ValueId x, std::int64_t cols, int layer) {
  const ParameterId root = weight(program, "root_weight", x, cols, layer);
  const ParameterId neighbour = weight(program, "neighbour_weight", x, cols, layer);
  const ValueId own = program.linear(x, root, bias(program, cols, layer));
  return program.add(own, program.linear(program.aggregate(x, Aggregation::kMean), neighbour));
}

ValueId mlp_layer(Program& program, ValueId x, std::int64_t cols, int layer) {
  const ParameterId w = weight(program, "weight", x, cols, layer);
  return program.linear(x, w, bias(program, cols, layer));
}

const std::map<std::string, LayerBuilder>& layer_builders() {
  static const std::map<std::string, LayerBuilder> builders = {
      {"gcn", gcn_layer}, {"sage", sage_layer}, {"mlp", mlp_layer}};
  return builders;
}

void check(bool good, const char* option, const std::string& found, const char* expected) {
  if (good) return;
  throw InputError({.what = "model option out of range",
                    .where = option,
                    .found = found,
                    .expected = expected,
                    .next = ""});
}

void check_options(const ModelOptions& options) {
  const auto is_probability = [](double p) { return p >= 0.0 && p < 1.0; };
  check(layer_builders().contains(options.model), "--model", options.model, "gcn, sage or mlp");
  check(options.layers >= 1, "--layers", std::to_string(options.layers), "at least 1");
  check(options.hidden >= 1, "--hidden", std::to_string(options.hidden), "at least 1");
  check(is_probability(options.dropout), "--dropout", fmt::format("{}", options.dropout), "0 <= p < 1");
  check(is_probability(options.input_dropout), "--input-dropout", fmt::format("{}", options.input_dropout),
        "0 <= p < 1");
}

}  // namespace

Program build_model(const ModelOptions& options, std::int64_t feature_cols, std::int64_t classes) {
  check_options(options);
  const LayerBuilder& add_layer = layer_builders().at(options.model);
  Program program;
  std::uint64_t stream = 0;
  ValueId x = program.dropout(program.input(feature_cols), options.input_dropout, stream++);
  for (int layer = 0; layer + 1 < options.layers; ++layer) {
    x = program.relu(add_layer(program, x, options.hidden, layer));
    x = program.dropout(x, options.dropout, stream++);
  }
  program.logits = add_layer(program, x, classes, options.layers - 1);
  return program;
}

template <typename Real>
void initialise_parameters(const Program& program, std::uint64_t seed, Real* flat) {
  constexpr std::uint64_t kInitialisation = 0x1000000;  // above every dropout stream
  std::uint64_t number = 0;
  for (const Parameter& parameter : program.parameters) {
    const double bound =
        parameter.is_bias ? 0.0 : std::sqrt(6.0 / static_cast<double>(parameter.rows + parameter.cols));
    RandomStream random(CounterRng(seed, 0, kInitialisation + number++).row_key(0));
    for (std::int64_t k = 0; k < parameter.size(); ++k) {
      flat[parameter.offset + k] = static_cast<Real>(bound * (2.0 * random.uniform() - 1.0));
    }
  }
}

template void initialise_parameters(const Program&, std::uint64_t, float*);
template void initialise_parameters(const Program&, std::uint64_t, double*);

}  // namespace halo::nn
