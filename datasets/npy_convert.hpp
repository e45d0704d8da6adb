#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

namespace halo::datasets {

static_assert(std::endian::native == std::endian::little,
              "the files are little-endian and written as they are");

/// An IEEE 754 half (binary16): 1 sign, 5 exponent, 10 fraction bits.
struct Half {
  std::uint16_t bits;
};

inline float to_float(Half half) {
  const int exponent = (half.bits >> 10) & 0x1F;
  const int fraction = half.bits & 0x3FF;
  float magnitude = 0.0F;
  if (exponent == 0x1F) {
    magnitude =
        fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
  }
  return (half.bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// Reads one stored element, swapping its bytes where the file is big-endian.
template <typename Stored>
Stored load_item(const std::byte* from, bool swap) {
  std::byte bytes[sizeof(Stored)];
  for (std::size_t i = 0; i < sizeof(Stored); ++i) bytes[i] = from[swap ? sizeof(Stored) - 1 - i : i];
  Stored value;
  std::memcpy(&value, bytes, sizeof(Stored));
  return value;
}

/// out = value if T can hold it: integers exactly, floats rounded to nearest. False otherwise.
template <typename T, typename Stored>
bool convert_item(Stored value, T& out) {
  if constexpr (std::is_same_v<Stored, Half>) {
    return convert_item(to_float(value), out);
  } else if constexpr (std::floating_point<T>) {
    out = static_cast<T>(value);
    if constexpr (sizeof(Stored) > sizeof(T) && std::floating_point<Stored>) {
      return std::isfinite(out) || !std::isfinite(value);
    }
    return true;
  } else if constexpr (std::floating_point<Stored>) {
    // 2^digits is exact in any float type, max() is not.
    const Stored limit = std::ldexp(Stored{1}, std::numeric_limits<T>::digits);
    const Stored lowest = std::is_signed_v<T> ? -limit : Stored{0};
    if (!(value >= lowest && value < limit) || std::trunc(value) != value) return false;
    out = static_cast<T>(value);
    return true;
  } else {
    if (!std::in_range<T>(value)) return false;
    out = static_cast<T>(value);
    return true;
  }
}

}  // namespace halo::datasets
