#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halo/base/ids.hpp"

namespace halo::partition {

struct Tiles {
  std::vector<NodeId> tile_offsets;         ///< [tiles + 1] node ids
  std::vector<std::int64_t> group_offsets;  ///< [groups + 1] tile numbers
  std::int64_t tile_rows = 0;               ///< rows of a full tile
  std::int64_t tiles_per_group = 0;         ///< tiles of a full group
};

/// Cuts every part's interior rows and every part's boundary rows (NodeOrder) into tiles of `tile_rows` rows,
/// the last one shorter, and these into groups of `tiles_per_group` tiles, the last one shorter. No tile and
/// no group crosses a line.
Tiles cut_tiles(std::span<const NodeId> part_offsets, std::span<const NodeId> boundary_begin,
                std::int64_t tile_rows, std::int64_t tiles_per_group);

}  // namespace halo::partition
