#pragma once

#include "halo/dist/load_partition.hpp"
#include "halo/graph/local_graph.hpp"
#include "halo/mpi/communicator.hpp"

namespace halo::dist {

/// Collective. The graph of inductive training (Hamilton et al. 2017): the edges whose both ends are training
/// nodes. Owned nodes, local ids and halo (so the plans of `partition` serve it too), tiles and groups stay;
/// other nodes are isolated. Degrees, loop_to_add and interior groups are those of the subgraph; `active`
/// marks the training nodes.
graph::LocalGraph training_subgraph(const mpi::Communicator& communicator, const LocalPartition& partition);

}  // namespace halo::dist
