#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "halo/base/ids.hpp"
#include "halo/graph/local_graph.hpp"
#include "halo/graph/row_levels.hpp"

namespace halo::graph {

inline constexpr std::size_t kLevels = kLastLevel + 1;
/// A count for each level of rows (row_levels.hpp); all at level 0 where levels are not known.
using ByLevel = std::array<std::int64_t, kLevels>;

/// Entries of levels 0 to `level`; none below level 0.
std::int64_t count_to_level(const ByLevel& counts, int level);

/// One direction of the edges of one rank's share.
struct EdgeCounts {
  EdgeId edges = 0;  ///< of the whole graph
  /// [level of the row][level of the column]: edges that training sums over.
  std::array<ByLevel, kLevels> training{};
  ByLevel halo{};  ///< halo rows
  ByLevel sent{};  ///< owned rows, once for each rank that needs them
  std::int64_t send_ranks = 0;
  std::int64_t receive_ranks = 0;

  /// Edges of training into columns of levels 0 to `columns`, in rows of levels 0 to `rows`.
  EdgeId training_edges(int rows, int columns) const;
  std::int64_t halo_rows() const { return count_to_level(halo, kLastLevel); }
  std::int64_t sent_rows() const { return count_to_level(sent, kLastLevel); }

  friend bool operator==(const EdgeCounts&, const EdgeCounts&) = default;
};

/// How much one rank holds of a graph: enough to know what it will need, before or without loading it.
struct ShareCounts {
  std::int64_t owned = 0;
  std::int64_t groups = 0;
  std::vector<Tile> tiles;
  bool symmetric = true;
  bool has_levels = false;  ///< of training
  EdgeCounts in, out;       ///< equal where symmetric
  std::int64_t val_links = 0, test_links = 0;

  /// Rows of the tiles of levels 0 to `level`.
  std::int64_t rows_to_level(int level) const;
  std::int64_t largest_tile() const;

  friend bool operator==(const ShareCounts&, const ShareCounts&) = default;
};

}  // namespace halo::graph
