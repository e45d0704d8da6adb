#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace halo::nn {

struct ColumnStatistics {
  double mean = 0.0;
  double variance = 0.0;  ///< of the population: divided by the number of rows
};

/// Column c of a reduction [sum x | sum x^2] with `cols` columns over `rows` rows.
inline ColumnStatistics column_statistics(const std::vector<double>& sums, std::int64_t c, std::int64_t cols,
                                          double rows) {
  const double mean = sums[static_cast<std::size_t>(c)] / rows;
  const double square = sums[static_cast<std::size_t>(cols + c)] / rows;
  return {.mean = mean, .variance = std::max(0.0, square - mean * mean)};
}

}  // namespace halo::nn
