#include "halo/partition/tiles.hpp"

#include <algorithm>

namespace halo::partition {
namespace {

/// Appends the tiles and groups of one run of rows.
void cut_rows(NodeId begin, NodeId end, const std::vector<NodeId>& level_begin, Tiles& tiles) {
  if (begin == end) return;
  std::int64_t in_group = 0;
  auto line = std::upper_bound(level_begin.begin(), level_begin.end(), begin);
  for (NodeId row = begin; row < end; row = tiles.tile_offsets.back()) {
    if (in_group == tiles.tiles_per_group) {
      tiles.group_offsets.push_back(std::ssize(tiles.tile_offsets) - 1);
      in_group = 0;
    }
    if (line != level_begin.end() && *line == row) ++line;
    const NodeId level_end = line == level_begin.end() ? end : std::min(*line, end);
    tiles.tile_offsets.push_back(std::min(row + tiles.tile_rows, level_end));
    ++in_group;
  }
  tiles.group_offsets.push_back(std::ssize(tiles.tile_offsets) - 1);
}

}  // namespace

Tiles cut_tiles(const NodeOrder& order, std::int64_t tile_rows, std::int64_t tiles_per_group) {
  Tiles tiles{
      .tile_offsets = {0}, .group_offsets = {0}, .tile_rows = tile_rows, .tiles_per_group = tiles_per_group};
  for (std::size_t p = 0; p < order.boundary_begin.size(); ++p) {
    cut_rows(order.part_offsets[p], order.boundary_begin[p], order.level_begin, tiles);
    cut_rows(order.boundary_begin[p], order.part_offsets[p + 1], order.level_begin, tiles);
  }
  return tiles;
}

}  // namespace halo::partition
