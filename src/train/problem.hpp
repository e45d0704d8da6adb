#pragma once

#include <string>

#include "halo/dist/load_partition.hpp"
#include "halo/mpi/communicator.hpp"
#include "halo/nn/executor.hpp"
#include "halo/train/options.hpp"

namespace halo::train {

/// Collective. What the outputs of this rank's nodes are compared with. InputError, the same on every rank,
/// on a node of a split without a label, on a dataset without training nodes, and on options of another task.
nn::Targets make_targets(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
                         const TaskOptions& options);

/// InputError on options of another task than the dataset's, or out of range.
void check_task_options(const TaskOptions& options, const std::string& task);

/// The model for a dataset. InputError on options that do not go with its task.
nn::Program make_program(const datasets::PartitionManifest& manifest, const TrainOptions& options);

}  // namespace halo::train
