#include "halo/graph/row_levels.hpp"

#include <algorithm>
#include <utility>

#include "halo/graph/csr.hpp"

namespace halo::graph {
namespace {

std::uint8_t level_of(const Adjacency& edges, std::span<const std::uint8_t> owned, LocalId column) {
  const std::size_t j = at(column);
  return j < owned.size() ? owned[j] : edges.halo_level[j - owned.size()];
}

/// All rows of a tile get the lowest level among them.
void level_tiles(LocalGraph& graph) {
  for (Tile& tile : graph.tiles) {
    const auto rows = std::span(graph.level).subspan(at(tile.rows.begin), at(tile.rows.size()));
    tile.level = rows.empty() ? kLastLevel : *std::ranges::min_element(rows);
    std::ranges::fill(rows, tile.level);
  }
}

/// In-neighbours of rows of level `level` that have none yet get the next one.
void add_level(LocalGraph& graph, std::uint8_t level) {
  const Adjacency& out = graph.out();
  const std::uint8_t next = level + 1;
  for (std::size_t j = 0; j < graph.level.size(); ++j) {
    if (graph.level[j] <= next) continue;
    for (EdgeId e = out.indptr[j]; e < out.indptr[j + 1]; ++e) {
      if (level_of(out, graph.level, out.columns[at(e)]) <= level) {
        graph.level[j] = next;
        break;
      }
    }
  }
}

}  // namespace

std::vector<std::uint8_t> find_levels(const Csr& in_edges, std::span<const std::uint8_t> starts) {
  std::vector<std::uint8_t> levels(at(in_edges.num_nodes()), kLastLevel);
  std::vector<NodeId> reached, next;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (starts[i] == 0) continue;
    levels[i] = 0;
    reached.push_back(static_cast<NodeId>(i));
  }
  for (std::uint8_t level = 1; level < kLastLevel; ++level, std::swap(reached, next)) {
    next.clear();
    for (const NodeId i : reached) {
      for (const NodeId j : in_edges.neighbours(i)) {
        if (levels[at(j)] != kLastLevel) continue;
        levels[at(j)] = level;
        next.push_back(j);
      }
    }
  }
  return levels;
}

void mark_levels(LocalGraph& graph, std::span<const std::uint8_t> starts,
                 const std::function<void(LocalGraph&)>& fetch_halo_levels) {
  graph.has_levels = true;
  graph.level.assign(at(graph.owned), kLastLevel);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (starts[i] != 0) graph.level[i] = 0;
  }
  level_tiles(graph);
  fetch_halo_levels(graph);
  for (std::uint8_t level = 0; level + 1 < kLastLevel; ++level) {
    add_level(graph, level);
    level_tiles(graph);
    fetch_halo_levels(graph);
  }
}

Adjacency edges_to_level(const Adjacency& whole, std::span<const std::uint8_t> level, std::uint8_t highest) {
  const auto stays = [&](LocalId column) { return level_of(whole, level, column) <= highest; };
  const auto count = std::ranges::count_if(whole.columns, stays);
  Adjacency kept;
  kept.halo = whole.halo;
  kept.indptr.reserve(whole.indptr.size());  // exactly: a copy of the edges must not cost more than itself
  kept.columns.reserve(at(count));
  if (!whole.weights.empty()) kept.weights.reserve(at(count));
  for (std::size_t row = 0; row + 1 < whole.indptr.size(); ++row) {
    for (std::size_t e = at(whole.indptr[row]); e < at(whole.indptr[row + 1]); ++e) {
      if (!stays(whole.columns[e])) continue;
      kept.columns.push_back(whole.columns[e]);
      if (!whole.weights.empty()) kept.weights.push_back(whole.weights[e]);
    }
    kept.indptr.push_back(static_cast<EdgeId>(kept.columns.size()));
  }
  return kept;
}

}  // namespace halo::graph
