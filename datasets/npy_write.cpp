#include <fmt/format.h>

#include "halo/base/error.hpp"
#include "halo/datasets/atomic_file.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/datasets/npy_array.hpp"

namespace halo::datasets {

struct NpyWriter::State {
  AtomicFile file;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t promised = 0;
  std::uint64_t written = 0;

  [[noreturn]] void refuse_length() const {
    throw Error(fmt::format("{}: {} bytes written for shape {} of {} ({} bytes)", file.path().string(),
                            written, format_shape(shape), dtype, promised));
  }
};

NpyWriter::NpyWriter(const std::filesystem::path& path, const std::string& dtype,
                     std::span<const std::int64_t> shape)
    : state_(new State{AtomicFile(path), dtype, {shape.begin(), shape.end()}}) {
  const std::string header = make_npy_header(dtype, shape);
  const NpyHeader parsed = parse_npy_header(std::as_bytes(std::span(header)), path.string());
  state_->promised = static_cast<std::uint64_t>(parsed.size()) * static_cast<std::uint64_t>(parsed.item_size);
  state_->file.write(header.data(), header.size());
}

NpyWriter::~NpyWriter() = default;
NpyWriter::NpyWriter(NpyWriter&&) noexcept = default;
NpyWriter& NpyWriter::operator=(NpyWriter&&) noexcept = default;

void NpyWriter::write(const void* data, std::size_t bytes) {
  state_->written += bytes;
  if (state_->written > state_->promised) state_->refuse_length();
  state_->file.write(data, bytes);
}

void NpyWriter::finish() {
  if (state_->written != state_->promised) state_->refuse_length();
  state_->file.commit();
}

template <typename T>
void write_npy(const std::filesystem::path& path, std::span<const T> values,
               std::span<const std::int64_t> shape) {
  NpyWriter writer(path, dtype_of<T>(), shape);
  writer.write(values);
  writer.finish();
}

void write_text_file(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

#define HALO_NPY_WRITE(T, name) \
  template <>                   \
  const char* dtype_of<T>() {   \
    return name;                \
  }                             \
  template void write_npy<T>(const std::filesystem::path&, std::span<const T>, std::span<const std::int64_t>);
HALO_NPY_WRITE(float, "<f4")
HALO_NPY_WRITE(double, "<f8")
HALO_NPY_WRITE(std::int8_t, "|i1")
HALO_NPY_WRITE(std::int32_t, "<i4")
HALO_NPY_WRITE(std::int64_t, "<i8")
HALO_NPY_WRITE(std::uint8_t, "|u1")
HALO_NPY_WRITE(std::uint32_t, "<u4")
HALO_NPY_WRITE(std::uint64_t, "<u8")
#undef HALO_NPY_WRITE

}  // namespace halo::datasets
