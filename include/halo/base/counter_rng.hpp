#pragma once

#include <cstdint>

#include "halo/base/ids.hpp"

namespace halo {

/// Finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): a
/// bijection on 64-bit words whose outputs on a counter pass as random.
constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

inline constexpr std::uint64_t kGoldenGamma = 0x9E3779B97F4A7C15U;

/// Random numbers without state: each word is a function of (seed, epoch, operation, original node id,
/// column) alone, so it does not depend on which rank or thread asks, nor when.
class CounterRng {
 public:
  CounterRng(std::uint64_t seed, std::uint64_t epoch, std::uint64_t operation)
      : key_(chain(chain(chain(0, seed), epoch), operation)) {}

  /// Key of one node's row.
  std::uint64_t row_key(NodeId original_id) const {
    return chain(key_, static_cast<std::uint64_t>(original_id));
  }
  /// 64 random bits at `index` of a row: word(k, i) = mix64(k + (i + 1) gamma).
  static constexpr std::uint64_t word(std::uint64_t row_key, std::uint64_t index) {
    return mix64(row_key + (index + 1) * kGoldenGamma);
  }
  /// 32 random bits for a column: two columns share a 64-bit word.
  static constexpr std::uint32_t column_bits(std::uint64_t row_key, std::uint64_t column) {
    return static_cast<std::uint32_t>(word(row_key, column / 2) >> (column % 2 == 0 ? 0 : 32));
  }
  /// Uniform in [0, 1), 53 bits.
  static double uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

 private:
  static constexpr std::uint64_t chain(std::uint64_t key, std::uint64_t value) {
    return mix64((key ^ mix64(value + kGoldenGamma)) + kGoldenGamma);
  }
  std::uint64_t key_;
};

/// Sequential stream of one key for generators and initialisers: the i-th draw is word(key, i).
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t key) : key_(key) {}
  std::uint64_t next() { return CounterRng::word(key_, counter_++); }
  double uniform() { return CounterRng::uniform(next()); }
  /// Uniform in [0, bound), bound > 0; bias below 2^-64 bound.
  std::uint64_t below(std::uint64_t bound);
  /// Standard normal (Box-Muller; two draws each).
  double normal();

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace halo
