#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include "halo/base/error.hpp"
#include "halo/mpi/communicator.hpp"

namespace halo::train {

/// A figure that the scores of all ranks leave undefined, so that every rank throws it alike.
class UndefinedFigure final : public Error, public mpi::Agreed {
 public:
  using Error::Error;
};

inline std::int64_t count_not_numbers(std::span<const float> scores) {
  return std::ranges::count_if(scores, [](float score) { return std::isnan(score); });
}

/// Throws unless `not_numbers`, the NaN scores of all ranks, are none.
inline void check_not_nan(const std::string& figure, std::int64_t not_numbers) {
  if (not_numbers == 0) return;
  throw UndefinedFigure(fmt::format("no {}: {} scores are not numbers", figure, not_numbers));
}

}  // namespace halo::train
