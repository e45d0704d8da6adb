#include "halo/graph/share_counts.hpp"

#include <algorithm>

namespace halo::graph {

std::int64_t count_to_level(const ByLevel& counts, int level) {
  std::int64_t count = 0;
  for (int k = 0; k <= level; ++k) count += counts[at(k)];
  return count;
}

EdgeId EdgeCounts::training_edges(int rows, int columns) const {
  EdgeId count = 0;
  for (int row = 0; row <= rows; ++row) count += count_to_level(training[at(row)], columns);
  return count;
}

std::int64_t ShareCounts::rows_to_level(int level) const {
  std::int64_t rows = 0;
  for (const Tile& tile : tiles) {
    if (tile.level <= level) rows += tile.rows.size();
  }
  return rows;
}

std::int64_t ShareCounts::largest_tile() const {
  std::int64_t rows = 0;
  for (const Tile& tile : tiles) rows = std::max(rows, tile.rows.size());
  return rows;
}

}  // namespace halo::graph
