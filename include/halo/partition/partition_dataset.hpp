#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "halo/datasets/partitioned_dataset.hpp"
#include "halo/partition/partition_options.hpp"
#include "halo/partition/quality.hpp"

namespace halo::partition {

/// What gnn_partition was asked to do.
struct PartitionJob {
  std::filesystem::path dataset;
  std::filesystem::path out;
  PartitionOptions options{};
  bool undirected = false;              ///< add the missing reverse edges to the data itself
  std::optional<std::int64_t> split{};  ///< datasets::LoadOptions::split
};

struct PartitionResult {
  datasets::PartitionManifest manifest;
  Quality quality;
};

/// Reads a dataset, partitions it and writes the partitioned dataset; logs each phase with its seconds.
/// InputError before anything is written; on any error nothing stays behind.
PartitionResult partition_dataset(const PartitionJob& job);

}  // namespace halo::partition
