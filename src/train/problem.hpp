#pragma once

#include "halo/dist/load_partition.hpp"
#include "halo/mpi/communicator.hpp"
#include "halo/nn/executor.hpp"

namespace halo::train {

/// Collective. Rows of each split with their global counts. InputError if the graph has no training node, or
/// a node of a split has no label.
nn::Targets make_targets(const mpi::Communicator& communicator, const dist::LocalPartition& partition);

}  // namespace halo::train
