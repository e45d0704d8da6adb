#pragma once

#include "halo/dist/load_partition.hpp"
#include "halo/mpi/communicator.hpp"
#include "halo/nn/executor.hpp"
#include "halo/train/task_options.hpp"

namespace halo::train {

/// Collective. What the outputs of this rank's nodes are compared with. InputError, the same on every rank,
/// on a node of a split without a label, on a dataset without training nodes, and on options of another task.
nn::Targets make_targets(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
                         const TaskOptions& options);

}  // namespace halo::train
