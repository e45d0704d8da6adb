#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "halo/dist/load_partition.hpp"
#include "halo/mpi/communicator.hpp"
#include "id_directory.hpp"

namespace halo::train {

/// A pair of nodes (u, v) as one of them sees it. Both owners know a pair, so that each computes the gradient
/// of its own row: pulled, nothing is sent back.
struct PairEnd {
  LocalId other = 0;      ///< local id of the other node: owned, or owned + its place in `remote`
  bool positive = false;  ///< an edge; else a drawn pair
  bool first = false;     ///< seen from u: here the pair counts in sums
};

/// The pairs of one epoch that touch this rank's nodes.
struct EpochPairs {
  std::vector<std::int64_t> offsets;  ///< owned + 1: ends of each owned node
  /// Of each node by the original id of the other one: an order that no number of ranks changes.
  std::vector<PairEnd> ends;
  std::vector<NodeId> remote;  ///< other nodes owned elsewhere, ascending node ids
};

/// Draws the training pairs of link prediction. Positives are the edges of the graph, each pair of nodes once
/// and without loops; where the graph is symmetric, which end comes first is drawn anew in every epoch. Each
/// positive (u, v) brings `negatives` pairs (u, v'), v' uniform over all nodes but u (so that now and then it
/// is an edge, as rarely as the graph is sparse). All draws are functions of (seed, epoch, original ids).
class PairSampler {
 public:
  /// Collective. InputError, the same on every rank, on a graph without edges.
  PairSampler(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
              std::int64_t negatives, int threads);

  /// Collective.
  EpochPairs draw(std::uint64_t seed, std::uint64_t epoch) const;
  /// Pairs of an epoch, positive and negative, over all ranks.
  std::int64_t global_pairs() const { return global_pairs_; }

 private:
  struct End;
  template <typename Use>
  void for_each_neighbour(const graph::Adjacency& rows, std::span<const NodeId> halo_nodes, LocalId row,
                          const Use& use) const;
  void add_positives(std::uint64_t seed, std::uint64_t epoch, std::vector<End>& ends) const;
  void add_negatives(std::uint64_t seed, std::uint64_t epoch, std::vector<End>& ends) const;
  std::vector<End> by_row(const std::vector<End>& ends, std::vector<std::int64_t>& offsets) const;
  EpochPairs arrange(const std::vector<End>& drawn) const;

  const mpi::Communicator& communicator_;
  const dist::LocalPartition& partition_;
  std::int64_t negatives_;
  int threads_;
  IdDirectory directory_;
  std::vector<NodeId> in_halo_nodes_;               ///< node ids of the halo of in-edges
  std::vector<NodeId> out_halo_nodes_if_directed_;  ///< of out-edges; empty where symmetric
  std::int64_t global_pairs_ = 0;
};

}  // namespace halo::train
