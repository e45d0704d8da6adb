#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "halo/base/buffer.hpp"
#include "halo/datasets/partitioned_dataset.hpp"
#include "halo/dist/halo_plan.hpp"
#include "halo/dist/ownership.hpp"
#include "halo/graph/local_graph.hpp"

namespace halo::dist {

/// One rank's share of a partitioned dataset, ready to train on.
struct LocalPartition {
  datasets::PartitionManifest manifest;
  Ownership ownership;
  graph::LocalGraph graph;
  HaloPlan in_plan;                  ///< halo of graph.in
  HaloPlan out_plan;                 ///< halo of graph.out(); equals in_plan where symmetric
  Buffer<float> features;            ///< [owned x manifest.feature_cols]
  std::vector<std::int32_t> labels;  ///< owned; -1 unknown
  std::vector<std::uint8_t> split;   ///< owned; datasets::Split
};

/// Collective. Every rank reads its slices only (nothing O(N) is kept) and checks their checksums; work of a
/// part is its rows + edges. A problem on any rank becomes the same InputError on all ranks, naming the rank
/// and the file; InputError also if the folder has fewer parts than there are ranks (says the largest P it
/// serves).
LocalPartition load_partition(const mpi::Communicator& communicator, const std::filesystem::path& folder);

}  // namespace halo::dist
