#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "halo/datasets/dataset.hpp"
#include "halo/datasets/partitioned_dataset.hpp"
#include "halo/partition/partition_graph.hpp"

namespace halo::partition {

/// InputError if the dataset lacks what its task needs: labels and training nodes, but for link prediction.
void check_trainable(const datasets::Dataset& dataset);

/// Bytes of the files that write_partition() will write, to a few thousand; features count as dense float32.
std::int64_t bytes_to_write(const datasets::Dataset& dataset, const PartitionedGraph& graph);

/// Writes the partitioned dataset `folder` (datasets/partitioned_dataset.hpp): into a temporary folder beside
/// it, the manifest last, renamed when whole; on an error or a signal nothing stays. Features, labels and
/// splits are read by original id from `dataset` (its edges are not looked at) in bounded pieces. `options`
/// goes into the manifest. InputError as datasets::StagedFolder; Error where the disk is too small or fails.
datasets::PartitionManifest write_partition(const std::filesystem::path& folder,
                                            const datasets::Dataset& dataset, const PartitionedGraph& graph,
                                            const nlohmann::json& options);

}  // namespace halo::partition
