#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace halo::train {

// The safetensors format: 8 bytes, the length of the header (little-endian); the header, a JSON object {name:
// {"dtype", "shape", "data_offsets": [begin, end]}, ..., "__metadata__": {...}}; the data, which the tensors
// fill without gaps, row-major, offsets counted from its start.

/// One entry of the header.
struct Tensor {
  std::string name;
  std::string dtype = "F32";
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0;  ///< bytes in the data
  std::int64_t end = 0;
};

struct Safetensors {
  std::vector<Tensor> tensors;
  std::vector<std::byte> data;
};

/// Reads a whole file. InputError on anything that is not as the format has it.
Safetensors read_safetensors(const std::filesystem::path& file);

/// The tensor's numbers as float32. InputError on a dtype other than F32, F64, F16 and BF16; `file` is for
/// messages.
std::vector<float> values_of(const Safetensors& content, const Tensor& tensor,
                             const std::filesystem::path& file);

/// The length and the header of float32 tensors, whose offsets are set here: they follow one another.
std::string make_safetensors_header(std::vector<Tensor> tensors);

/// Elements of a shape.
std::int64_t element_count(std::span<const std::int64_t> shape);

}  // namespace halo::train
