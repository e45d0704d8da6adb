#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace halo {

/// Sums whose result does not depend on the order or the grouping of the terms.
///
/// A term x is split into integers l0, l1, l2 with x = l0 2^-8 + l1 2^-48 + l2 2^-88 + rest, and the integers
/// are added. Integer addition is associative, so any order of terms, threads, ranks and any MPI reduction
/// algorithm give the same limbs. Terms with |x| < 2^32 enter exactly down to 2^-88 (a float of at least
/// 2^-64 loses nothing; the rest is rounded once per term, alike everywhere); up to 2^22 terms per sum. A
/// term that is not finite or too large turns the whole set of sums into NaN, which the caller reports. (The
/// idea of fixed bins is that of Demmel and Nguyen, "Parallel reproducible summation", 2015.)
///
/// Layout of the limbs of n sums: [l0 of all | l1 of all | l2 of all | number of bad terms], 3 n + 1
/// integers.
inline constexpr std::int64_t kExactLimbs = 3;
inline constexpr std::array<double, kExactLimbs> kExactScale = {0x1.0p8, 0x1.0p48, 0x1.0p88};
inline constexpr double kExactLimit = 0x1.0p32;

constexpr std::int64_t exact_limb_count(std::int64_t sums) {
  return kExactLimbs * sums + 1;
}

/// limbs += terms, one term for each sum [begin, begin + terms.size()) of the `limbs` of `sums` sums.
template <typename Real>
void exact_add(std::span<const Real> terms, std::int64_t begin, std::int64_t sums,
               std::span<std::int64_t> limbs);

/// into += from, both limbs of the same sums.
void exact_merge(std::span<const std::int64_t> from, std::span<std::int64_t> into);

/// Values of the sums [begin, begin + values.size()) of the `limbs` of `sums` sums, each rounded once; all
/// NaN if a bad term was met.
template <typename Real>
void exact_values(std::span<const std::int64_t> limbs, std::int64_t begin, std::int64_t sums,
                  std::span<Real> values);

}  // namespace halo
