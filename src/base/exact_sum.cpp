#include "halo/base/exact_sum.hpp"

#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

namespace halo {
namespace {

__extension__ using Wide = __int128;  // GCC and Clang; -Wpedantic wants the marker

// x + 1.5 2^52 rounds a double below 2^51 to an integer (ties to even) in every build that keeps IEEE
// semantics, and holds that integer in its lowest bits: so no conversion between double and 64-bit integers
// is needed, which AVX2 and SSE2 do not have.
constexpr double kRounder = 0x1.8p52;

struct Rounded {
  double value;
  std::int64_t integer;
};

inline Rounded round_to_integer(double x) {
  const double shifted = x + kRounder;
  return {shifted - kRounder, std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(kRounder)};
}

#if defined(__x86_64__)
#define HALO_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HALO_CLONES
#endif

HALO_CLONES std::int64_t add_limbs(const double* terms, std::int64_t count, std::int64_t* l0,
                                   std::int64_t* l1, std::int64_t* l2) {
  std::int64_t bad = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const bool good = std::abs(terms[i]) < kExactLimit;  // false for NaN
    const std::int64_t mask = -static_cast<std::int64_t>(good);
    bad += 1 + mask;
    const auto x = std::bit_cast<double>(std::bit_cast<std::int64_t>(terms[i]) & mask);  // 0 for a bad term
    const Rounded q0 = round_to_integer(x * kExactScale[0]);
    const double r1 = x - q0.value * (1.0 / kExactScale[0]);
    const Rounded q1 = round_to_integer(r1 * kExactScale[1]);
    const double r2 = r1 - q1.value * (1.0 / kExactScale[1]);
    const Rounded q2 = round_to_integer(r2 * kExactScale[2]);
    l0[i] += q0.integer;
    l1[i] += q1.integer;
    l2[i] += q2.integer;
  }
  return bad;
}

}  // namespace

template <typename Real>
void exact_add(std::span<const Real> terms, std::int64_t begin, std::int64_t sums,
               std::span<std::int64_t> limbs) {
  assert(static_cast<std::int64_t>(limbs.size()) == exact_limb_count(sums));
  constexpr std::int64_t kBlock = 512;
  std::array<double, kBlock> block;
  const auto count = static_cast<std::int64_t>(terms.size());
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t size = std::min(kBlock, count - first);
    for (std::int64_t i = 0; i < size; ++i) {
      block[static_cast<std::size_t>(i)] = static_cast<double>(terms[static_cast<std::size_t>(first + i)]);
    }
    std::int64_t* const l0 = limbs.data() + begin + first;
    limbs.back() += add_limbs(block.data(), size, l0, l0 + sums, l0 + 2 * sums);
  }
}

void exact_merge(std::span<const std::int64_t> from, std::span<std::int64_t> into) {
  assert(from.size() == into.size());
  for (std::size_t i = 0; i < from.size(); ++i) into[i] += from[i];
}

template <typename Real>
void exact_values(std::span<const std::int64_t> limbs, std::int64_t begin, std::int64_t sums,
                  std::span<Real> values) {
  assert(static_cast<std::int64_t>(limbs.size()) == exact_limb_count(sums));
  const bool bad = limbs.back() != 0;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(values.size()); ++i) {
    // The limbs overlap, and sums in which l0 cancels live in l1 and l2: add them as one wide integer in
    // units of 2^-88 where that fits, so that the value is rounded once.
    const std::int64_t* const l = limbs.data() + begin + i;
    const Wide low = static_cast<Wide>(l[sums]) * (Wide{1} << 40) + static_cast<Wide>(l[2 * sums]);
    constexpr std::int64_t kFits = std::int64_t{1} << 44;  // l0 2^80 stays below 2^124
    double value;
    if (l[0] > -kFits && l[0] < kFits) {
      value = static_cast<double>(static_cast<Wide>(l[0]) * (Wide{1} << 80) + low) * 0x1.0p-88;
    } else {
      value = static_cast<double>(l[0]) * 0x1.0p-8 + static_cast<double>(low) * 0x1.0p-88;
    }
    values[static_cast<std::size_t>(i)] =
        bad ? std::numeric_limits<Real>::quiet_NaN() : static_cast<Real>(value);
  }
}

template void exact_add<float>(std::span<const float>, std::int64_t, std::int64_t, std::span<std::int64_t>);
template void exact_add<double>(std::span<const double>, std::int64_t, std::int64_t, std::span<std::int64_t>);
template void exact_values<float>(std::span<const std::int64_t>, std::int64_t, std::int64_t,
                                  std::span<float>);
template void exact_values<double>(std::span<const std::int64_t>, std::int64_t, std::int64_t,
                                   std::span<double>);

}  // namespace halo
