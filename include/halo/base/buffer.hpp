#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace halo {

namespace internal {
/// Uninitialised memory aligned to a cache line and a full vector register; large blocks to a huge page,
/// which the kernel is asked for: gathers touch rows all over a block and would miss the translation cache
/// with small pages. Throws std::bad_alloc.
void* allocate_buffer(std::size_t bytes);
void free_buffer(void* pointer, std::size_t bytes);
}  // namespace internal

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
      data_ = Pointer(static_cast<T*>(internal::allocate_buffer(bytes)), Free{bytes});
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
    std::size_t bytes = 0;
    void operator()(T* pointer) const { internal::free_buffer(pointer, bytes); }
  };
  using Pointer = std::unique_ptr<T[], Free>;
  Pointer data_;
  std::int64_t size_ = 0;
};

}  // namespace halo
