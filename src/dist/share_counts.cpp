#include "halo/dist/share_counts.hpp"

namespace halo::dist {
namespace {

graph::EdgeCounts count_edges(const graph::LocalGraph& training, const graph::Adjacency& edges,
                              const graph::Adjacency& whole, const HaloPlan& plan) {
  const auto level_of = [&](LocalId id) -> std::size_t {
    if (!training.has_levels) return 0;
    return id < training.owned ? training.level[at(id)] : edges.halo_level[at(id - training.owned)];
  };
  graph::EdgeCounts counts;
  counts.edges = std::ssize(whole.columns);
  for (LocalId row = 0; row < training.owned; ++row) {
    graph::ByLevel& of_row = counts.training[level_of(row)];
    for (EdgeId e = edges.indptr[at(row)]; e < edges.indptr[at(row) + 1]; ++e) {
      ++of_row[level_of(edges.columns[at(e)])];
    }
  }
  for (LocalId k = 0; k < edges.halo; ++k) ++counts.halo[level_of(training.owned + k)];
  for (const LocalId row : plan.send_rows) ++counts.sent[level_of(row)];
  counts.send_ranks = std::ssize(plan.send_to);
  counts.receive_ranks = std::ssize(plan.receive_from);
  return counts;
}

}  // namespace

graph::ShareCounts count_share(const LocalPartition& partition, const graph::LocalGraph& training) {
  const graph::LocalGraph& whole = partition.graph;
  graph::ShareCounts counts;
  counts.owned = whole.owned;
  counts.groups = std::ssize(whole.groups);
  counts.tiles = training.tiles;
  counts.symmetric = whole.symmetric;
  counts.has_levels = training.has_levels;
  counts.in = count_edges(training, training.in, whole.in, partition.in_plan);
  counts.out =
      whole.symmetric ? counts.in : count_edges(training, training.out(), whole.out(), partition.out_plan);
  counts.val_links = partition.val_links.size();
  counts.test_links = partition.test_links.size();
  return counts;
}

}  // namespace halo::dist
