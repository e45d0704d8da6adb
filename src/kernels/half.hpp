#pragma once

#include <bit>
#include <cstdint>

namespace halo::kernels::internal {

/// The half-width form of a number. It lies in memory of whole ones, hence may_alias (GCC, Clang).
template <typename Real>
struct Half;

template <>
struct Half<float> {
  using Stored = std::uint16_t __attribute__((may_alias));
  static std::uint16_t round(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const bool nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
    const std::uint32_t nearest = bits + 0x7FFFU + ((bits >> 16) & 1U);
    return static_cast<std::uint16_t>((nan ? bits | 0x400000U : nearest) >> 16);  // a quiet NaN
  }
  static float widen(std::uint16_t half) { return std::bit_cast<float>(std::uint32_t{half} << 16); }
};

template <>
struct Half<double> {
  using Stored = float __attribute__((may_alias));
  static float round(double x) { return static_cast<float>(x); }
  static double widen(float half) { return static_cast<double>(half); }
};

}  // namespace halo::kernels::internal
