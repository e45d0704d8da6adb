#pragma once

#include <cstddef>
#include <cstdint>

namespace halo::partition {

/// An id as a subscript.
constexpr std::size_t at(std::int64_t index) {
  return static_cast<std::size_t>(index);
}

}  // namespace halo::partition
