#include "safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "halo/base/error.hpp"

namespace halo::train {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are stored little-endian");

constexpr std::uint64_t kLongestHeader = 100'000'000;  // as the format's own reader has it
constexpr const char* kNext = "write it again with the safetensors library";

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& found,
                         const std::string& expected) {
  throw InputError({.what = "not a whole .safetensors file",
                    .where = file.string(),
                    .found = found,
                    .expected = expected,
                    .next = kNext});
}

struct Dtype {
  const char* name;
  std::int64_t bytes;
};
constexpr std::array<Dtype, 12> kDtypes = {{{"BOOL", 1},
                                            {"U8", 1},
                                            {"I8", 1},
                                            {"I16", 2},
                                            {"U16", 2},
                                            {"F16", 2},
                                            {"BF16", 2},
                                            {"I32", 4},
                                            {"F32", 4},
                                            {"F64", 8},
                                            {"I64", 8},
                                            {"U64", 8}}};

/// 0 if the format has no such dtype.
std::int64_t bytes_of(const std::string& dtype) {
  const auto place =
      std::find_if(kDtypes.begin(), kDtypes.end(), [&](const Dtype& known) { return dtype == known.name; });
  return place == kDtypes.end() ? 0 : place->bytes;
}

std::vector<std::byte> read_bytes(const std::filesystem::path& file) {
  std::error_code error;
  const bool is_file = std::filesystem::is_regular_file(file, error);
  const std::uintmax_t size = is_file ? std::filesystem::file_size(file, error) : 0;
  std::ifstream stream(file, std::ios::binary);
  if (!is_file || error || !stream) refuse(file, "no file that can be read", "a file");
  std::vector<std::byte> bytes(size);
  // std::byte may alias anything; the stream wants char.
  if (size > 0) {
    stream.read(static_cast<char*>(static_cast<void*>(bytes.data())), static_cast<std::streamsize>(size));
  }
  if (!stream) refuse(file, "no file that can be read", "a file");
  return bytes;
}

Tensor parse_tensor(const std::filesystem::path& file, const std::string& name, const nlohmann::json& entry) {
  Tensor tensor = {.name = name, .dtype = {}, .shape = {}};
  std::vector<std::int64_t> offsets;
  try {
    tensor.dtype = entry.at("dtype").get<std::string>();
    for (const auto& size : entry.at("shape")) tensor.shape.push_back(size.get<std::int64_t>());
    for (const auto& offset : entry.at("data_offsets")) offsets.push_back(offset.get<std::int64_t>());
  } catch (const nlohmann::json::exception&) {
    refuse(file, fmt::format("the entry {} of tensor {}", entry.dump(), name), "dtype, shape, data_offsets");
  }
  if (offsets.size() != 2) {
    refuse(file, fmt::format("{} offsets of tensor {}", offsets.size(), name),
           "where its data begin and end");
  }
  tensor.begin = offsets[0];
  tensor.end = offsets[1];
  return tensor;
}

/// Bytes that dtype and shape ask for; -1 if there is no such number.
std::int64_t expected_bytes(const Tensor& tensor) {
  std::int64_t bytes = bytes_of(tensor.dtype);
  for (const std::int64_t size : tensor.shape) {
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) return -1;
  }
  return bytes_of(tensor.dtype) == 0 ? -1 : bytes;
}

void check_tensors(const std::filesystem::path& file, std::vector<Tensor> tensors, std::int64_t data_bytes) {
  std::sort(tensors.begin(), tensors.end(), [](const Tensor& a, const Tensor& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::int64_t reached = 0;
  for (const Tensor& tensor : tensors) {
    const std::int64_t bytes = expected_bytes(tensor);
    if (bytes < 0 || tensor.begin != reached || tensor.end - tensor.begin != bytes) {
      refuse(file,
             fmt::format("tensor {}, {} [{}], at bytes {} to {}", tensor.name, tensor.dtype,
                         fmt::join(tensor.shape, ", "), tensor.begin, tensor.end),
             fmt::format("a tensor that fills the bytes from {} on", reached));
    }
    reached = tensor.end;
  }
  if (reached != data_bytes) {
    refuse(file, fmt::format("{} bytes of data", data_bytes), fmt::format("{}, as the header says", reached));
  }
}

nlohmann::json parse_header(const std::filesystem::path& file, std::string_view text) {
  // The library keeps the last of two equal names, which would hide a tensor.
  bool twice = false;
  std::vector<std::string> names;
  const auto watch = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    if (depth != 1 || event != nlohmann::json::parse_event_t::key) return true;
    const auto name = parsed.get<std::string>();
    twice |= std::find(names.begin(), names.end(), name) != names.end();
    names.push_back(name);
    return true;
  };
  const auto header = nlohmann::json::parse(text, watch, /*allow_exceptions=*/false);
  if (!header.is_object() || twice) refuse(file, "a damaged header", "a JSON object of distinct tensors");
  return header;
}

float from_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1FU;
  const std::uint32_t fraction = half & 0x3FFU;
  if (exponent == 0) {  // zero and numbers below the smallest normal one, 2^-14
    return std::copysign(static_cast<float>(fraction) * 0x1.0p-24F, sign != 0 ? -1.0F : 1.0F);
  }
  const std::uint32_t wide = exponent == 0x1FU ? 0xFFU : exponent + (127 - 15);
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

template <typename Stored, typename Convert>
std::vector<float> convert(std::span<const std::byte> bytes, const Convert& to_float) {
  std::vector<float> values(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    values[i] = to_float(stored);
  }
  return values;
}

}  // namespace

std::int64_t element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

Safetensors read_safetensors(const std::filesystem::path& file) {
  std::vector<std::byte> bytes = read_bytes(file);
  std::uint64_t length = 0;
  if (bytes.size() >= sizeof(length)) std::memcpy(&length, bytes.data(), sizeof(length));
  if (bytes.size() < sizeof(length) || length > std::min(bytes.size() - sizeof(length), kLongestHeader)) {
    refuse(file, fmt::format("{} bytes, a header of {} announced", bytes.size(), length),
           "the header's length in the first 8 bytes, and the header behind it");
  }
  const auto* text = static_cast<const char*>(static_cast<const void*>(bytes.data())) + sizeof(length);
  const nlohmann::json header = parse_header(file, {text, length});
  Safetensors content;
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__") content.tensors.push_back(parse_tensor(file, name, entry));
  }
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(sizeof(length) + length));
  check_tensors(file, content.tensors, static_cast<std::int64_t>(bytes.size()));
  content.data = std::move(bytes);
  return content;
}

std::vector<float> values_of(const Safetensors& content, const Tensor& tensor,
                             const std::filesystem::path& file) {
  const auto bytes = std::span(content.data)
                         .subspan(static_cast<std::size_t>(tensor.begin),
                                  static_cast<std::size_t>(tensor.end - tensor.begin));
  if (tensor.dtype == "F32") return convert<float>(bytes, [](float x) { return x; });
  if (tensor.dtype == "F64") return convert<double>(bytes, [](double x) { return static_cast<float>(x); });
  if (tensor.dtype == "F16") return convert<std::uint16_t>(bytes, from_half);
  if (tensor.dtype == "BF16") {
    return convert<std::uint16_t>(
        bytes, [](std::uint16_t x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16); });
  }
  throw InputError({.what = "weights are not stored as floating-point numbers",
                    .where = fmt::format("{}, tensor {}", file.string(), tensor.name),
                    .found = tensor.dtype,
                    .expected = "F32, F64, F16 or BF16",
                    .next = "convert the tensor and write the file again"});
}

std::string make_safetensors_header(std::vector<Tensor> tensors) {
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"format", "pt"}};
  std::int64_t reached = 0;
  for (const Tensor& tensor : tensors) {
    const std::int64_t end = reached + element_count(tensor.shape) * static_cast<std::int64_t>(sizeof(float));
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {reached, end}}};
    reached = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data are aligned
  const std::uint64_t length = text.size();
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + text;
}

}  // namespace halo::train
