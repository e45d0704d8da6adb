#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halo/base/ids.hpp"

namespace halo::datasets {

/// Header of a NumPy .npy file, format versions 1.0 to 3.0 (NumPy enhancement proposal 1).
struct NpyHeader {
  char kind = 'f';    ///< 'f' float, 'i' signed, 'u' unsigned, 'b' bool
  int item_size = 4;  ///< bytes
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::int64_t data_offset = 0;  ///< bytes from the start of the file

  std::int64_t size() const;  ///< number of elements
  std::int64_t rows() const { return shape.empty() ? 1 : shape[0]; }
  std::int64_t row_items() const;  ///< elements of one entry of the first axis
  std::string dtype() const;       ///< "<f4"
};

/// Parses a header from the first bytes of a file; `where` names it in errors. InputError on anything
/// malformed. Does not know the file's length.
NpyHeader parse_npy_header(std::span<const std::byte> start, const std::string& where);
/// Reads the header and checks that the file is exactly as long as it promises.
NpyHeader read_npy_header(const std::filesystem::path& path);
/// The bytes of the header of a little-endian C-order version 1.0 file, padded to 64.
std::string make_npy_header(const std::string& dtype, std::span<const std::int64_t> shape);

/// Reads the rows (entries of the first axis) into `out`, converting kind, size, byte and memory order to T.
/// InputError where a value does not fit T (a fraction or NaN for an integer, a number out of range) or the
/// file is cut. T: float, double, int8/32/64, uint8/32/64.
template <typename T>
void read_npy_rows(const std::filesystem::path& path, const NpyHeader& header, RowRange rows,
                   std::span<T> out);
/// The whole array.
template <typename T>
std::vector<T> read_npy(const std::filesystem::path& path);

/// Writes an array of a known shape in pieces: temporary name beside `path`, then flush, fsync and rename in
/// finish(). A writer destroyed before finish() removes its temporary file. Error names the path and the
/// system's reason (full disk ...).
class NpyWriter {
 public:
  NpyWriter(const std::filesystem::path& path, const std::string& dtype, std::span<const std::int64_t> shape);
  ~NpyWriter();
  NpyWriter(NpyWriter&&) noexcept;
  NpyWriter& operator=(NpyWriter&&) noexcept;

  void write(const void* data, std::size_t bytes);
  template <typename T>
  void write(std::span<const T> values) {
    write(values.data(), values.size_bytes());
  }
  /// Error if fewer or more bytes were written than the shape holds.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// NumPy's name of a C++ type, little-endian: dtype_of<float>() == "<f4".
template <typename T>
const char* dtype_of();
template <>
const char* dtype_of<float>();
template <>
const char* dtype_of<double>();
template <>
const char* dtype_of<std::int8_t>();
template <>
const char* dtype_of<std::int32_t>();
template <>
const char* dtype_of<std::int64_t>();
template <>
const char* dtype_of<std::uint8_t>();
template <>
const char* dtype_of<std::uint32_t>();
template <>
const char* dtype_of<std::uint64_t>();

/// Writes a whole array.
template <typename T>
void write_npy(const std::filesystem::path& path, std::span<const T> values,
               std::span<const std::int64_t> shape);

/// Writes a text file the same way: temporary name, flush, fsync, rename.
void write_text_file(const std::filesystem::path& path, const std::string& text);

}  // namespace halo::datasets
