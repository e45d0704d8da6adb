#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "halo/datasets/partitioned_dataset.hpp"
#include "halo/graph/csr.hpp"

namespace halo::testing {

/// All arrays of a partitioned dataset as plain vectors, to be spoilt by tests before they are written: the
/// checksums are those of what is written.
struct SmallPartition {
  std::vector<NodeId> part_offsets;
  std::vector<NodeId> tile_offsets;
  std::vector<std::int64_t> group_offsets;
  graph::Csr in, out;
  bool symmetric = true;
  std::int64_t feature_cols = 3;
  std::int32_t num_classes = 4;
  std::vector<float> features;  ///< [N x feature_cols], row i holds i + c / 8
  std::string task = datasets::kNodeClassification;
  std::vector<std::int32_t> labels;                             ///< i mod 5 - 1: one in five unknown
  std::vector<std::uint8_t> multi_labels;                       ///< [N x num_classes], set for that task
  std::vector<float> values;                                    ///< likewise
  std::array<std::vector<std::vector<std::int64_t>>, 2> links;  ///< rows of val_links, test_links; sorted
  std::array<std::vector<std::int64_t>, 2> link_offsets;        ///< [K + 1] each
  std::vector<std::uint8_t> split;                              ///< i mod 4
  std::vector<std::int64_t> original_id;                        ///< N - 1 - i
};

/// Parts of near equal size, tiles of 4 rows, groups of 2 tiles.
SmallPartition make_small_partition(const graph::Csr& in_edges, int parts);
/// Writes the folder in the format of halo/datasets/partitioned_dataset.hpp.
void write_small_partition(const std::filesystem::path& folder, const SmallPartition& partition);

}  // namespace halo::testing
