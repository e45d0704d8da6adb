#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <set>

#include "halo/base/counter_rng.hpp"

using halo::CounterRng;
using halo::RandomStream;

TEST_CASE("mix64 equals the published SplitMix64 sequence of seed 0") {
  CHECK(CounterRng::word(0, 0) == 0xE220A8397B1DCDAFU);
  CHECK(CounterRng::word(0, 1) == 0x6E789E6AA1B965F4U);
  CHECK(CounterRng::word(0, 2) == 0x06C45D188009454FU);
}

TEST_CASE("each part of the key matters") {
  std::set<std::uint64_t> keys;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
      for (std::uint64_t operation = 0; operation < 4; ++operation) {
        for (halo::NodeId node = 0; node < 4; ++node) {
          keys.insert(CounterRng(seed, epoch, operation).row_key(node));
        }
      }
    }
  }
  CHECK(keys.size() == 256);
}

TEST_CASE("two columns share a word, low half first") {
  const std::uint64_t key = CounterRng(1, 2, 3).row_key(4);
  CHECK(CounterRng::column_bits(key, 6) == static_cast<std::uint32_t>(CounterRng::word(key, 3)));
  CHECK(CounterRng::column_bits(key, 7) == static_cast<std::uint32_t>(CounterRng::word(key, 3) >> 32));
}

TEST_CASE("neighbouring rows and columns look independent") {
  const CounterRng rng(5, 0, 1);
  int ones = 0;
  int agreements = 0;
  constexpr int kRows = 2000;
  for (int row = 0; row < kRows; ++row) {
    const std::uint32_t a = CounterRng::column_bits(rng.row_key(row), 0);
    ones += std::popcount(a);
    agreements += std::popcount(~(a ^ CounterRng::column_bits(rng.row_key(row + 1), 0)));
    agreements += std::popcount(~(a ^ CounterRng::column_bits(rng.row_key(row), 1)));
  }
  // Fair coins: standard deviations are 16 sqrt(1/rows) bits of 32; five of them allowed.
  CHECK(std::abs(ones / double{kRows} - 16.0) < 5 * std::sqrt(8.0 / kRows));
  CHECK(std::abs(agreements / (2.0 * kRows) - 16.0) < 5 * std::sqrt(8.0 / kRows));
}

TEST_CASE("streams: bounds and moments") {
  RandomStream stream(CounterRng(9, 0, 0).row_key(0));
  double sum = 0.0;
  double squares = 0.0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    CHECK_UNARY(stream.below(3) < 3);
    const double x = stream.normal();
    sum += x;
    squares += x * x;
  }
  CHECK(std::abs(sum / kDraws) < 0.05);
  CHECK(std::abs(squares / kDraws - 1.0) < 0.05);
  CHECK(stream.below(1) == 0);
}
