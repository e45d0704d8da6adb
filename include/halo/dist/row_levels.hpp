#pragma once

#include <cstdint>
#include <span>

#include "halo/dist/load_partition.hpp"
#include "halo/graph/local_graph.hpp"
#include "halo/mpi/communicator.hpp"

namespace halo::dist {

/// Collective. graph::mark_levels() over all ranks: `graph` is the partition's or a subgraph with the same
/// halo, `starts` has 1 for the owned nodes that the loss is a sum over.
void mark_row_levels(const mpi::Communicator& communicator, const LocalPartition& partition,
                     std::span<const std::uint8_t> starts, graph::LocalGraph& graph);

}  // namespace halo::dist
