#include "halo/base/buffer.hpp"

#include <sys/mman.h>

#include <new>

namespace halo::internal {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLarge = 2 * kHugePage;  // below, rounding to huge pages would waste more than it gains

std::align_val_t alignment_of(std::size_t bytes) {
  return std::align_val_t{bytes >= kLarge ? kHugePage : kCacheLine};
}

}  // namespace

void* allocate_buffer(std::size_t bytes) {
  void* const pointer = ::operator new[](bytes, alignment_of(bytes));
  // Only advice: where the kernel has no huge pages to give, small ones serve.
  if (bytes >= kLarge) madvise(pointer, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return pointer;
}

void free_buffer(void* pointer, std::size_t bytes) {
  ::operator delete[](pointer, alignment_of(bytes));
}

}  // namespace halo::internal
