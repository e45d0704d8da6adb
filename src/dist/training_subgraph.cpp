#include "halo/dist/training_subgraph.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "halo_values.hpp"

namespace halo::dist {
namespace {

/// The edges of `whole` between nodes with a flag; `in_training` by local id, owned then halo.
graph::Adjacency keep_edges(const graph::Adjacency& whole, std::span<const std::int64_t> in_training) {
  graph::Adjacency kept;
  kept.halo = whole.halo;
  kept.halo_original_id = whole.halo_original_id;
  for (std::size_t row = 0; row + 1 < whole.indptr.size(); ++row) {
    for (std::size_t e = at(whole.indptr[row]); e < at(whole.indptr[row + 1]); ++e) {
      if (in_training[row] == 0 || in_training[at(whole.columns[e])] == 0) continue;
      kept.columns.push_back(whole.columns[e]);
      if (!whole.weights.empty()) kept.weights.push_back(whole.weights[e]);
    }
    kept.indptr.push_back(static_cast<EdgeId>(kept.columns.size()));
  }
  return kept;
}

}  // namespace

graph::LocalGraph training_subgraph(const mpi::Communicator& communicator, const LocalPartition& partition) {
  const graph::LocalGraph& whole = partition.graph;
  std::vector<std::int64_t> owned(at(whole.owned));
  std::ranges::transform(partition.split, owned.begin(), [](std::uint8_t split) {
    return static_cast<std::int64_t>(split == static_cast<std::uint8_t>(datasets::Split::kTrain));
  });
  const auto with_halo = [&](const HaloPlan& plan) {
    std::vector<std::int64_t> flags = owned;
    const auto halo = halo_values(communicator, plan, owned);
    flags.insert(flags.end(), halo.begin(), halo.end());
    return flags;
  };

  graph::LocalGraph graph;
  graph.global_nodes = whole.global_nodes;
  graph.first_node = whole.first_node;
  graph.owned = whole.owned;
  graph.symmetric = whole.symmetric;
  graph.original_id = whole.original_id;
  graph.tiles = whole.tiles;
  graph.groups = whole.groups;
  graph.active.assign(owned.begin(), owned.end());
  graph.in = keep_edges(whole.in, with_halo(partition.in_plan));
  if (!whole.symmetric)
    graph.out_if_directed = keep_edges(whole.out_if_directed, with_halo(partition.out_plan));
  std::array<std::int64_t, 2> totals = {static_cast<std::int64_t>(graph.in.columns.size()),
                                        std::ranges::count(graph.active, 1)};
  communicator.sum(std::span<std::int64_t>(totals));
  graph.global_edges = totals[0];
  graph.global_active = totals[1];
  graph::set_degrees(graph);
  graph::mark_interior_groups(graph);
  return graph;
}

}  // namespace halo::dist
