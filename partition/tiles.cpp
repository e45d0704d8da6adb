#include "halo/partition/tiles.hpp"

#include <algorithm>

namespace halo::partition {
namespace {

/// Appends the tiles and groups of one run of rows.
void cut_rows(NodeId begin, NodeId end, Tiles& tiles) {
  if (begin == end) return;
  std::int64_t in_group = 0;
  for (NodeId row = begin; row < end; row += tiles.tile_rows) {
    if (in_group == tiles.tiles_per_group) {
      tiles.group_offsets.push_back(std::ssize(tiles.tile_offsets) - 1);
      in_group = 0;
    }
    tiles.tile_offsets.push_back(std::min(row + tiles.tile_rows, end));
    ++in_group;
  }
  tiles.group_offsets.push_back(std::ssize(tiles.tile_offsets) - 1);
}

}  // namespace

Tiles cut_tiles(std::span<const NodeId> part_offsets, std::span<const NodeId> boundary_begin,
                std::int64_t tile_rows, std::int64_t tiles_per_group) {
  Tiles tiles{
      .tile_offsets = {0}, .group_offsets = {0}, .tile_rows = tile_rows, .tiles_per_group = tiles_per_group};
  for (std::size_t p = 0; p < boundary_begin.size(); ++p) {
    cut_rows(part_offsets[p], boundary_begin[p], tiles);
    cut_rows(boundary_begin[p], part_offsets[p + 1], tiles);
  }
  return tiles;
}

}  // namespace halo::partition
