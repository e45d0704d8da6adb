#pragma once

#include <cstdint>
#include <vector>

#include "halo/base/ids.hpp"
#include "halo/partition/node_order.hpp"

namespace halo::partition {

struct Tiles {
  std::vector<NodeId> tile_offsets;         ///< [tiles + 1] node ids
  std::vector<std::int64_t> group_offsets;  ///< [groups + 1] tile numbers
  std::int64_t tile_rows = 0;               ///< rows of a full tile
  std::int64_t tiles_per_group = 0;         ///< tiles of a full group
};

/// Cuts every part's interior rows and every part's boundary rows into tiles of at most `tile_rows` rows of
/// one level, and these into groups of at most `tiles_per_group` tiles. No tile crosses a line of the order
/// (parts, boundary_begin, level_begin); a group may cross levels.
Tiles cut_tiles(const NodeOrder& order, std::int64_t tile_rows, std::int64_t tiles_per_group);

}  // namespace halo::partition
