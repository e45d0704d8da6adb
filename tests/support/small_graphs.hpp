#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halo/base/ids.hpp"
#include "halo/dist/ownership.hpp"
#include "halo/graph/csr.hpp"
#include "halo/graph/local_graph.hpp"

namespace halo::testing {

struct SmallGraph {
  std::string name;
  graph::Csr in_edges;
};

/// Every ordered pair (j, i) of distinct nodes is an edge j -> i with probability `density`; both ways where
/// symmetric.
graph::Csr random_graph(NodeId nodes, double density, bool symmetric, std::uint64_t seed);
/// Node 0 and every other, both ways.
graph::Csr star(NodeId nodes);
/// Edges only from the first half of the nodes to the second.
graph::Csr one_way(NodeId nodes);
graph::Csr without_edges(NodeId nodes);
/// One node, no edge; loops and duplicate edges; and the above: what awkward user data looks like.
std::vector<SmallGraph> small_graphs();

/// `parts` + 1 offsets, part sizes differ by one at most; parts are empty where there are fewer nodes.
std::vector<NodeId> even_offsets(NodeId nodes, int parts);
/// One part for each rank.
dist::Ownership even_ownership(NodeId nodes, int ranks);

/// One rank's share of a graph, found the slow and obvious way: no plans, no files, no communication.
struct Share {
  graph::LocalGraph graph;
  std::vector<NodeId> in_halo;   ///< global ids of the halo of graph.in
  std::vector<NodeId> out_halo;  ///< of graph.out()
};
/// Tiles never cross the parts given by `part_offsets`; groups neither. original_id is nodes - 1 - id.
Share share_of(const graph::Csr& in_edges, const dist::Ownership& ownership, Rank rank,
               const std::vector<NodeId>& part_offsets, std::int64_t tile_rows = 4,
               std::int32_t tiles_per_group = 2);

/// Node ids at which tiles begin, and numbers of the tiles at which groups begin; both end with the total.
std::vector<NodeId> tile_offsets_of(const std::vector<NodeId>& part_offsets, std::int64_t tile_rows);
std::vector<std::int64_t> group_offsets_of(const std::vector<NodeId>& part_offsets,
                                           const std::vector<NodeId>& tile_offsets,
                                           std::int32_t tiles_per_group);

}  // namespace halo::testing
