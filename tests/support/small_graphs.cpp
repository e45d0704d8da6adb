#include "support/small_graphs.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "halo/base/counter_rng.hpp"

namespace halo::testing {
namespace {

/// In-edges of a list of (source, target) pairs.
graph::Csr from_pairs(NodeId nodes, const std::vector<std::pair<NodeId, NodeId>>& edges) {
  std::vector<NodeId> sources;
  std::vector<NodeId> targets;
  for (const auto& [source, target] : edges) {
    sources.push_back(source);
    targets.push_back(target);
  }
  return graph::build_in_edges(nodes, sources, targets);
}

/// The rows of `owned` nodes with columns looked up in a map from global to local ids.
graph::Adjacency rows_of(const graph::Csr& graph, RowRange owned, std::vector<NodeId>& halo) {
  std::set<NodeId> elsewhere;
  for (NodeId node = owned.begin; node < owned.end; ++node) {
    for (const NodeId id : graph.neighbours(node)) {
      if (id < owned.begin || id >= owned.end) elsewhere.insert(id);
    }
  }
  halo.assign(elsewhere.begin(), elsewhere.end());
  std::map<NodeId, LocalId> local;
  for (NodeId node = owned.begin; node < owned.end; ++node)
    local.emplace(node, static_cast<LocalId>(local.size()));
  for (const NodeId node : halo) local.emplace(node, static_cast<LocalId>(local.size()));

  graph::Adjacency rows;
  rows.halo = static_cast<LocalId>(halo.size());
  for (NodeId node = owned.begin; node < owned.end; ++node) {
    for (const NodeId id : graph.neighbours(node)) rows.columns.push_back(local.at(id));
    rows.indptr.push_back(static_cast<EdgeId>(rows.columns.size()));
  }
  if (!graph.weights.empty()) {
    rows.weights.assign(graph.weights.begin() + graph.indptr[at(owned.begin)],
                        graph.weights.begin() + graph.indptr[at(owned.end)]);
  }
  return rows;
}

}  // namespace

graph::Csr random_graph(NodeId nodes, double density, bool symmetric, std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<std::pair<NodeId, NodeId>> edges;
  for (NodeId source = 0; source < nodes; ++source) {
    for (NodeId target = symmetric ? source + 1 : 0; target < nodes; ++target) {
      if (source == target || random.uniform() >= density) continue;
      edges.emplace_back(source, target);
      if (symmetric) edges.emplace_back(target, source);
    }
  }
  return from_pairs(nodes, edges);
}

graph::Csr star(NodeId nodes) {
  std::vector<std::pair<NodeId, NodeId>> edges;
  for (NodeId node = 1; node < nodes; ++node) {
    edges.emplace_back(0, node);
    edges.emplace_back(node, 0);
  }
  return from_pairs(nodes, edges);
}

graph::Csr one_way(NodeId nodes) {
  std::vector<std::pair<NodeId, NodeId>> edges;
  for (NodeId source = 0; source < nodes / 2; ++source) {
    for (NodeId target = nodes / 2; target < nodes; target += 2) edges.emplace_back(source, target);
  }
  return from_pairs(nodes, edges);
}

graph::Csr without_edges(NodeId nodes) {
  return from_pairs(nodes, {});
}

std::vector<SmallGraph> small_graphs() {
  return {{"one node", without_edges(1)},
          {"no edges", without_edges(7)},
          {"star", star(13)},
          {"one way", one_way(12)},
          {"loops and duplicates",
           from_pairs(6, {{0, 0}, {5, 0}, {5, 0}, {0, 5}, {3, 2}, {2, 2}, {2, 3}, {3, 2}})},
          {"random symmetric", random_graph(41, 0.15, true, 1)},
          {"random directed", random_graph(37, 0.1, false, 2)},
          {"dense", random_graph(17, 1.0, true, 3)}};
}

std::vector<NodeId> even_offsets(NodeId nodes, int parts) {
  std::vector<NodeId> offsets;
  for (int part = 0; part <= parts; ++part) offsets.push_back(nodes * part / parts);
  return offsets;
}

dist::Ownership even_ownership(NodeId nodes, int ranks) {
  dist::Ownership ownership;
  ownership.first_node = even_offsets(nodes, ranks);
  for (PartId part = 0; part <= ranks; ++part) ownership.first_part.push_back(part);
  return ownership;
}

std::vector<NodeId> tile_offsets_of(const std::vector<NodeId>& part_offsets, std::int64_t tile_rows) {
  std::vector<NodeId> tiles;
  for (std::size_t part = 0; part + 1 < part_offsets.size(); ++part) {
    for (NodeId node = part_offsets[part]; node < part_offsets[part + 1]; node += tile_rows)
      tiles.push_back(node);
  }
  tiles.push_back(part_offsets.back());
  return tiles;
}

std::vector<std::int64_t> group_offsets_of(const std::vector<NodeId>& part_offsets,
                                           const std::vector<NodeId>& tile_offsets,
                                           std::int32_t tiles_per_group) {
  std::vector<std::int64_t> groups;
  std::int64_t in_group = 0;
  for (std::size_t tile = 0; tile + 1 < tile_offsets.size(); ++tile) {
    const bool begins_part = std::binary_search(part_offsets.begin(), part_offsets.end(), tile_offsets[tile]);
    if (begins_part || in_group == tiles_per_group) {
      groups.push_back(static_cast<std::int64_t>(tile));
      in_group = 0;
    }
    ++in_group;
  }
  groups.push_back(static_cast<std::int64_t>(tile_offsets.size()) - 1);
  return groups;
}

Share share_of(const graph::Csr& in_edges, const dist::Ownership& ownership, Rank rank,
               const std::vector<NodeId>& part_offsets, std::int64_t tile_rows,
               std::int32_t tiles_per_group) {
  const RowRange owned = ownership.nodes_of(rank);
  Share share;
  graph::LocalGraph& graph = share.graph;
  graph.global_nodes = in_edges.num_nodes();
  graph.global_active = graph.global_nodes;
  graph.global_edges = in_edges.num_edges();
  graph.first_node = owned.begin;
  graph.owned = static_cast<LocalId>(owned.size());
  graph.symmetric = graph::is_symmetric(in_edges);
  graph.in = rows_of(in_edges, owned, share.in_halo);
  share.out_halo = share.in_halo;
  if (!graph.symmetric) graph.out_if_directed = rows_of(graph::transpose(in_edges), owned, share.out_halo);
  for (NodeId node = owned.begin; node < owned.end; ++node)
    graph.original_id.push_back(graph.global_nodes - 1 - node);
  for (const NodeId node : share.in_halo) graph.in.halo_original_id.push_back(graph.global_nodes - 1 - node);
  if (!graph.symmetric) {
    for (const NodeId node : share.out_halo)
      graph.out_if_directed.halo_original_id.push_back(graph.global_nodes - 1 - node);
  }

  const auto tiles = tile_offsets_of(part_offsets, tile_rows);
  std::int32_t first_tile = -1;
  for (std::size_t tile = 0; tile + 1 < tiles.size(); ++tile) {
    if (tiles[tile] < owned.begin || tiles[tile] >= owned.end) continue;
    if (first_tile < 0) first_tile = static_cast<std::int32_t>(tile);
    graph.tiles.push_back({.rows = {tiles[tile] - owned.begin, tiles[tile + 1] - owned.begin}});
  }
  const auto groups = group_offsets_of(part_offsets, tiles, tiles_per_group);
  for (std::size_t group = 0; group + 1 < groups.size(); ++group) {
    const NodeId node = tiles[at(groups[group])];
    if (node < owned.begin || node >= owned.end) continue;
    graph.groups.push_back({.first_tile = static_cast<std::int32_t>(groups[group]) - first_tile,
                            .last_tile = static_cast<std::int32_t>(groups[group + 1]) - first_tile});
  }
  graph::set_degrees(graph);
  graph::mark_interior_groups(graph);
  return share;
}

}  // namespace halo::testing
