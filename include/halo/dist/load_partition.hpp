#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "halo/base/buffer.hpp"
#include "halo/datasets/partitioned_dataset.hpp"
#include "halo/dist/halo_plan.hpp"
#include "halo/dist/ownership.hpp"
#include "halo/graph/local_graph.hpp"
#include "halo/graph/share_counts.hpp"

namespace halo::dist {

/// Held-out edges of this rank: those whose first end it owns, in the order of parts and, within a part, of
/// the dataset's list. All ids are global node ids.
struct LinkSet {
  std::vector<std::int64_t> part_offsets{0};  ///< parts of this rank + 1, links of each
  std::vector<std::int64_t> position;         ///< of each link in the dataset's list
  std::vector<NodeId> sources;                ///< u, owned
  std::vector<NodeId> targets;                ///< v
  std::vector<NodeId> negatives;              ///< [links x negatives_each] v', (u, v') being no edge
  std::int64_t negatives_each = 0;
  std::int64_t global_size = 0;  ///< links of all ranks

  std::int64_t size() const { return static_cast<std::int64_t>(sources.size()); }
};

/// One rank's share of a partitioned dataset, ready to train on.
struct LocalPartition {
  datasets::PartitionManifest manifest;
  Ownership ownership;
  graph::LocalGraph graph;
  HaloPlan in_plan;                        ///< halo of graph.in
  HaloPlan out_plan;                       ///< halo of graph.out(); equals in_plan where symmetric
  Buffer<float> features;                  ///< [owned x manifest.feature_cols]
  std::vector<std::int32_t> labels;        ///< node classification: owned; -1 unknown
  std::vector<std::uint8_t> multi_labels;  ///< multi-label: [owned x num_classes] 0 / 1
  std::vector<float> values;               ///< node regression: [owned x num_classes], NaN unknown
  std::vector<std::uint8_t> split;         ///< owned; datasets::Split
  LinkSet val_links, test_links;           ///< link prediction
};

/// Collective. Every rank reads its slices only (nothing O(N) is kept) and checks their checksums; work of a
/// part is its rows + edges. A problem on any rank becomes the same InputError on all ranks, naming the rank
/// and the file; InputError also if the folder has fewer parts than there are ranks (says the largest P it
/// serves).
/// `before_reading`, if given, sees rows and edges of this rank's share before any memory is taken for them;
/// it may be collective and throw.
using BeforeReading =
    std::function<void(const datasets::PartitionManifest& manifest, const graph::ShareCounts& counts)>;
LocalPartition load_partition(const mpi::Communicator& communicator, const std::filesystem::path& folder,
                              const BeforeReading& before_reading = {});

}  // namespace halo::dist
