#include "halo/base/counter_rng.hpp"

#include <cmath>
#include <numbers>

namespace halo {

std::uint64_t RandomStream::below(std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;  // GCC and Clang; -Wpedantic wants the marker
  return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
}

double RandomStream::normal() {
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));  // uniform() < 1, so the log is finite
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace halo
