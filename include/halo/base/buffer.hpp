#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace halo {

/// Alignment of every numeric buffer: a cache line and a full vector register.
inline constexpr std::size_t kBufferAlignment = 64;

/// Owning, move-only, cache-line aligned array of a trivial type. Elements start *uninitialised*, so that the
/// thread that first writes a page decides where it lives; use fill() where a value is needed.
template <typename T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::int64_t size) : size_(size) {
    if (size > 0) {
      const auto bytes = static_cast<std::size_t>(size) * sizeof(T);
      data_.reset(static_cast<T*>(::operator new[](bytes, std::align_val_t{kBufferAlignment})));
    }
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }
  std::span<T> span() { return {data_.get(), static_cast<std::size_t>(size_)}; }
  std::span<const T> span() const { return {data_.get(), static_cast<std::size_t>(size_)}; }
  void fill(T value) {
    for (T& element : span()) element = value;
  }

 private:
  struct Free {
    void operator()(T* pointer) const { ::operator delete[](pointer, std::align_val_t{kBufferAlignment}); }
  };
  std::unique_ptr<T[], Free> data_;
  std::int64_t size_ = 0;
};

}  // namespace halo
