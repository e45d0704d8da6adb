#include "halo/graph/local_graph.hpp"

#include <algorithm>
#include <numeric>

#include "halo/base/checked_cast.hpp"
#include "halo/graph/csr.hpp"

namespace halo::graph {
namespace {

bool all_owned(const Adjacency& adjacency, LocalId owned, RowRange rows) {
  const auto begin = adjacency.columns.begin() + adjacency.indptr[at(rows.begin)];
  const auto end = adjacency.columns.begin() + adjacency.indptr[at(rows.end)];
  return std::all_of(begin, end, [owned](LocalId column) { return column < owned; });
}

Adjacency to_adjacency(const Csr& graph) {
  Adjacency adjacency;
  adjacency.indptr = graph.indptr;
  adjacency.columns.assign(graph.indices.begin(), graph.indices.end());
  adjacency.weights = graph.weights;
  return adjacency;
}

}  // namespace

void set_degrees(LocalGraph& graph) {
  graph.in_degree.assign(at(graph.owned), 0.0);
  graph.loop_to_add.assign(at(graph.owned), 1.0F);
  for (LocalId i = 0; i < graph.owned; ++i) {
    double degree = 0.0;
    for (EdgeId e = graph.in.indptr[at(i)]; e < graph.in.indptr[at(i) + 1]; ++e) {
      degree += graph.in.weights.empty() ? 1.0 : static_cast<double>(graph.in.weights[at(e)]);
      if (graph.in.columns[at(e)] == i) graph.loop_to_add[at(i)] = 0.0F;
    }
    graph.in_degree[at(i)] = degree;
  }
}

void mark_interior_groups(LocalGraph& graph) {
  for (TileGroup& group : graph.groups) {
    const RowRange rows = {graph.tiles[at(group.first_tile)].rows.begin,
                           graph.tiles[at(group.last_tile) - 1].rows.end};
    group.interior_in = all_owned(graph.in, graph.owned, rows);
    group.interior_out = graph.symmetric ? group.interior_in : all_owned(graph.out(), graph.owned, rows);
  }
}

LocalGraph whole_graph(const Csr& in_edges, std::int64_t tile_rows, std::int32_t tiles_per_group) {
  LocalGraph graph;
  graph.global_nodes = in_edges.num_nodes();
  graph.global_active = in_edges.num_nodes();
  graph.global_edges = in_edges.num_edges();
  graph.owned = checked_cast<LocalId>(in_edges.num_nodes(), "number of nodes on one rank");
  graph.in = to_adjacency(in_edges);
  graph.symmetric = is_symmetric(in_edges);
  if (!graph.symmetric) graph.out_if_directed = to_adjacency(transpose(in_edges));
  graph.original_id.resize(at(graph.owned));
  std::iota(graph.original_id.begin(), graph.original_id.end(), NodeId{0});
  for (std::int64_t begin = 0; begin < graph.owned; begin += tile_rows) {
    graph.tiles.push_back({.rows = {begin, std::min<std::int64_t>(begin + tile_rows, graph.owned)}});
  }
  const auto tiles = static_cast<std::int32_t>(graph.tiles.size());
  for (std::int32_t first = 0; first < tiles; first += tiles_per_group) {
    graph.groups.push_back({.first_tile = first, .last_tile = std::min(first + tiles_per_group, tiles)});
  }
  set_degrees(graph);
  mark_interior_groups(graph);
  return graph;
}

}  // namespace halo::graph
