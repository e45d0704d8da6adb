#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halo/graph/csr.hpp"
#include "halo/partition/node_order.hpp"
#include "halo/partition/partition_options.hpp"
#include "halo/partition/quality.hpp"
#include "halo/partition/tiles.hpp"

namespace halo::partition {

/// A graph in its new numbering, with all that the files of a partitioned dataset say about its structure.
struct PartitionedGraph {
  graph::Csr in;   ///< in-edge rows by new id, ascending
  graph::Csr out;  ///< out-edge rows; empty where symmetric
  bool symmetric = true;
  NodeOrder order;
  Tiles tiles;
  Quality quality;
  Scheme scheme = Scheme::kKway;  ///< as Assignment
  PartId repaired_parts = 0;

  PartId parts() const { return static_cast<PartId>(order.boundary_begin.size()); }
};

/// Everything between reading a graph and writing files: parts, their order, the order of nodes, tiles,
/// figures. `graph` holds in-edge rows (loops and duplicate edges stay); `is_train` is [nodes]. Errors as
/// assign_nodes(). Deterministic in graph and options.
///
/// Memory beside the graph's 8 bytes an entry: a symmetric copy where it is not symmetric and simple already
/// (8), METIS (60 to 95 for a while, partition/README.md), then the relabelled rows (8).
PartitionedGraph partition_graph(graph::Csr graph, std::span<const std::uint8_t> is_train,
                                 const PartitionOptions& options);

}  // namespace halo::partition
