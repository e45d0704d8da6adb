#include <fmt/format.h>

#include <algorithm>

#include "halo/base/error.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/datasets/npy_array.hpp"
#include "npy_convert.hpp"

namespace halo::datasets {
namespace {

constexpr std::int64_t kChunkBytes = 1 << 20;

/// Where a run of stored elements goes: element i to out[first + i * stride].
template <typename T>
struct Destination {
  std::span<T> out;
  std::int64_t first = 0;
  std::int64_t stride = 1;
};

struct Location {
  const std::string& name;
  const NpyHeader& header;
  std::int64_t first_row;
};

template <typename T, typename Stored>
[[noreturn]] void refuse_value(Stored value, std::int64_t out_index, const Location& location) {
  const auto items = std::max<std::int64_t>(location.header.row_items(), 1);
  std::string found;
  if constexpr (std::is_same_v<Stored, Half>) {
    found = fmt::format("{}", to_float(value));
  } else {
    found = fmt::format("{}", value);
  }
  throw InputError({.what = "a value does not fit",
                    .where = fmt::format("{}, row {}, item {} (from 0)", location.name,
                                         location.first_row + out_index / items, out_index % items),
                    .found = fmt::format("{} ({})", found, location.header.dtype()),
                    .expected = std::floating_point<T>
                                    ? fmt::format("a number in the range of {}", dtype_of<T>())
                                    : fmt::format("an integer in the range of {}", dtype_of<T>()),
                    .next = "correct the array or save it with another type"});
}

template <typename T, typename Stored>
void convert_run(std::span<const std::byte> bytes, const Destination<T>& to, const Location& location) {
  const bool swap = location.header.big_endian;
  const auto count = static_cast<std::int64_t>(bytes.size() / sizeof(Stored));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = load_item<Stored>(bytes.data() + static_cast<std::size_t>(i) * sizeof(Stored), swap);
    const std::int64_t index = to.first + i * to.stride;
    if (!convert_item(value, to.out[static_cast<std::size_t>(index)]))
      refuse_value<T>(value, index, location);
  }
}

template <typename T>
void convert_stored(std::span<const std::byte> bytes, const Destination<T>& to, const Location& location) {
  const auto& header = location.header;
  switch (header.kind << 4 | header.item_size) {
    case 'f' << 4 | 2:
      return convert_run<T, Half>(bytes, to, location);
    case 'f' << 4 | 4:
      return convert_run<T, float>(bytes, to, location);
    case 'f' << 4 | 8:
      return convert_run<T, double>(bytes, to, location);
    case 'i' << 4 | 1:
      return convert_run<T, std::int8_t>(bytes, to, location);
    case 'i' << 4 | 2:
      return convert_run<T, std::int16_t>(bytes, to, location);
    case 'i' << 4 | 4:
      return convert_run<T, std::int32_t>(bytes, to, location);
    case 'i' << 4 | 8:
      return convert_run<T, std::int64_t>(bytes, to, location);
    case 'b' << 4 | 1:
    case 'u' << 4 | 1:
      return convert_run<T, std::uint8_t>(bytes, to, location);
    case 'u' << 4 | 2:
      return convert_run<T, std::uint16_t>(bytes, to, location);
    case 'u' << 4 | 4:
      return convert_run<T, std::uint32_t>(bytes, to, location);
    case 'u' << 4 | 8:
      return convert_run<T, std::uint64_t>(bytes, to, location);
    default:
      throw Error(fmt::format("{}: dtype {} passed the header check", location.name, header.dtype()));
  }
}

/// Reads `count` stored elements from element `begin` of the file on.
template <typename T>
void read_run(const ByteSource& source, const Location& location, std::int64_t begin, std::int64_t count,
              const Destination<T>& to) {
  const NpyHeader& header = location.header;
  const bool as_stored = header.dtype() == dtype_of<T>() && !header.big_endian && to.stride == 1;
  if (as_stored) {
    const auto out = to.out.subspan(static_cast<std::size_t>(to.first), static_cast<std::size_t>(count));
    source.read(header.data_offset + begin * header.item_size, std::as_writable_bytes(out));
    return;
  }
  std::vector<std::byte> chunk(static_cast<std::size_t>(std::min(count * header.item_size, kChunkBytes)));
  const std::int64_t chunk_items = kChunkBytes / header.item_size;
  for (std::int64_t done = 0; done < count; done += chunk_items) {
    const std::int64_t items = std::min(chunk_items, count - done);
    const auto bytes = std::span(chunk).first(static_cast<std::size_t>(items * header.item_size));
    source.read(header.data_offset + (begin + done) * header.item_size, bytes);
    convert_stored<T>(bytes, {to.out, to.first + done * to.stride, to.stride}, location);
  }
}

/// Position within a C-ordered row of the `column`-th item of a row in Fortran order (first of the trailing
/// axes fastest).
std::int64_t c_order_item(const NpyHeader& header, std::int64_t column) {
  std::int64_t item = 0;
  std::int64_t weight = header.row_items();
  for (std::size_t axis = 1; axis < header.shape.size(); ++axis) {
    weight /= header.shape[axis];
    item += column % header.shape[axis] * weight;
    column /= header.shape[axis];
  }
  return item;
}

template <typename T>
void read_rows_of(const ByteSource& source, const NpyHeader& header, RowRange rows, std::span<T> out) {
  if (rows.begin < 0 || rows.begin > rows.end || rows.end > header.rows() ||
      static_cast<std::int64_t>(out.size()) != rows.size() * header.row_items()) {
    throw Error(fmt::format("{}: rows [{}, {}) of shape {} asked for in {} elements", source.name(),
                            rows.begin, rows.end, format_shape(header.shape), out.size()));
  }
  if (out.empty()) return;
  const Location location{source.name(), header, rows.begin};
  const std::int64_t items = header.row_items();
  if (!header.fortran_order || header.shape.size() < 2) {
    read_run<T>(source, location, rows.begin * items, rows.size() * items, {out, 0, 1});
    return;
  }
  // Fortran order: a column of the asked rows is contiguous, columns are rows() elements apart.
  for (std::int64_t column = 0; column < items; ++column) {
    const Destination<T> to{out, c_order_item(header, column), items};
    read_run<T>(source, location, column * header.rows() + rows.begin, rows.size(), to);
  }
}

/// Reads the start of a file: as much as a header usually needs, or all that parse_npy_header() takes.
NpyHeader read_start(const ByteSource& source) {
  constexpr std::int64_t kUsualBytes = 4096, kMaxBytes = 12 + (1 << 20);
  std::vector<std::byte> start(static_cast<std::size_t>(std::min(source.size(), kUsualBytes)));
  source.read(0, start);
  // Bytes 9 to 11 are the upper ones of the length; in version 1 there is no 10 and 11.
  const bool version_1 = start.size() < 12 || start[6] == std::byte{1};
  const auto upper = [&](std::size_t i) { return i < start.size() ? static_cast<int>(start[i]) : 0; };
  if (upper(9) >= 15 || (!version_1 && upper(10) + upper(11) > 0)) {
    start.resize(static_cast<std::size_t>(std::min(source.size(), kMaxBytes)));
    source.read(0, start);
  }
  return parse_npy_header(start, source.name());
}

NpyHeader read_header(const ByteSource& source) {
  NpyHeader header = read_start(source);
  std::int64_t promised = 0;
  if (__builtin_add_overflow(header.size() * header.item_size, header.data_offset, &promised) ||
      promised != source.size()) {
    throw InputError({.what = "the array's file has the wrong length",
                      .where = source.name(),
                      .found = fmt::format("{} bytes", source.size()),
                      .expected = fmt::format("{} bytes of header and shape {} of {}", header.data_offset,
                                              format_shape(header.shape), header.dtype()),
                      .next = "the file was cut or is still being written: copy it again"});
  }
  return header;
}

}  // namespace

NpyArray::NpyArray(std::shared_ptr<const ByteSource> source)
    : source_(std::move(source)), header_(read_header(*source_)) {}

template <typename T>
void NpyArray::read_rows(RowRange rows, std::span<T> out) const {
  read_rows_of(*source_, header_, rows, out);
}

template <typename T>
std::vector<T> NpyArray::read() const {
  std::vector<T> values(static_cast<std::size_t>(header_.size()));
  read_rows_of<T>(*source_, header_, {0, header_.rows()}, values);
  return values;
}

NpyHeader read_npy_header(const std::filesystem::path& path) {
  return NpyArray(open_file(path)).header();
}

template <typename T>
void read_npy_rows(const std::filesystem::path& path, const NpyHeader& header, RowRange rows,
                   std::span<T> out) {
  read_rows_of(*open_file(path), header, rows, out);
}

template <typename T>
std::vector<T> read_npy(const std::filesystem::path& path) {
  return NpyArray(open_file(path)).read<T>();
}

#define HALO_NPY_READ(T)                                                                                  \
  template void NpyArray::read_rows<T>(RowRange, std::span<T>) const;                                     \
  template std::vector<T> NpyArray::read<T>() const;                                                      \
  template void read_npy_rows<T>(const std::filesystem::path&, const NpyHeader&, RowRange, std::span<T>); \
  template std::vector<T> read_npy<T>(const std::filesystem::path&);
HALO_NPY_READ(float)
HALO_NPY_READ(double)
HALO_NPY_READ(std::int8_t)
HALO_NPY_READ(std::int32_t)
HALO_NPY_READ(std::int64_t)
HALO_NPY_READ(std::uint8_t)
HALO_NPY_READ(std::uint32_t)
HALO_NPY_READ(std::uint64_t)
#undef HALO_NPY_READ

}  // namespace halo::datasets
