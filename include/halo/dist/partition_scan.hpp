#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "halo/datasets/partitioned_dataset.hpp"
#include "halo/dist/ownership.hpp"
#include "halo/graph/share_counts.hpp"

namespace halo::dist {

struct PartitionFolder;

/// Some rows of a graph as the files hold them: neighbours are node ids of the whole graph.
struct RowSample {
  std::vector<EdgeId> indptr{0};
  std::vector<NodeId> neighbours;
};

/// Reads a partitioned dataset as a stream, in one process, to say what the ranks of a run would hold. No MPI.
/// Memory: a byte for each node, and a bit more. InputError on a folder that load_partition() would refuse
/// too, but for damage that only checksums show.
class PartitionScan {
 public:
  struct Training {
    bool levels = true;      ///< the loss is a sum over the training nodes
    bool inductive = false;  ///< edges between training nodes only
  };

  /// Finds the levels of the nodes: graph::kLastLevel passes over the edges.
  PartitionScan(const std::filesystem::path& folder, Training training);
  ~PartitionScan();
  PartitionScan(PartitionScan&&) noexcept;
  PartitionScan& operator=(PartitionScan&&) noexcept;

  const datasets::PartitionManifest& manifest() const;
  /// What each of `ranks` ranks would hold, as count_share() finds it: one pass over the edges (two where
  /// they are directed). InputError if there are fewer parts.
  std::vector<graph::ShareCounts> count_shares(int ranks) const;
  /// In-neighbours of the rows of some tiles, evenly spread, until there are `edges` of them.
  RowSample sample(EdgeId edges) const;

 private:
  void find_levels(Training training);
  void level_tiles();
  void add_level(std::uint8_t level);
  bool is_training_edge(NodeId row, NodeId column) const;
  class NodeSet;
  void count_rows(const Ownership& ownership, Rank rank, graph::ShareCounts& share) const;
  void count_edges(const std::string& prefix, RowRange owned, NodeSet& halo, graph::EdgeCounts& counts) const;

  std::unique_ptr<PartitionFolder> folder_;
  bool has_levels_ = false;
  std::vector<std::uint8_t> level_;     ///< of each node
  std::vector<std::uint8_t> training_;  ///< of each node, where the graph of training is not the whole
};

}  // namespace halo::dist
