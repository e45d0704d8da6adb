#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halo/dist/partition_scan.hpp"
#include "halo/train/rank_memory.hpp"

namespace halo::train {

/// A model made ready for plans: what does not depend on the number of ranks.
class RunPlanner {
 public:
  /// InputError on options that do not go with the dataset. The arguments stay the caller's.
  RunPlanner(const datasets::PartitionManifest& manifest, const TrainOptions& options);

  const nn::Program& model() const { return model_; }
  nn::Schedules schedules_of(const graph::ShareCounts& counts) const;
  GatherChoice gathers_of(const nn::Schedules& schedules, const graph::ShareCounts& counts,
                          const SentRows& sent) const;
  RankMemory memory_of(const graph::ShareCounts& counts, const SentRows& sent, int ranks, int threads,
                       std::int64_t program_bytes) const;

 private:
  const datasets::PartitionManifest& manifest_;
  const TrainOptions& options_;
  nn::Program model_;
};

/// Of one rank.
struct RankPlan {
  graph::ShareCounts counts;
  RankMemory memory;
  HaloTraffic traffic;
};

/// What a run on some number of ranks would need.
struct RunPlan {
  int threads = 1;
  std::vector<RankPlan> ranks;

  /// The rank that needs most memory.
  std::size_t largest() const;
  std::int64_t mean_bytes() const;
  /// Sent by all ranks in one epoch of training, as summary.json has it.
  std::int64_t halo_bytes_per_epoch() const;
};

/// Rows that all ranks send, from the counts of all.
SentRows sent_rows(std::span<const graph::ShareCounts> shares);

/// Reads the edges once more. InputError as PartitionScan::count_shares().
RunPlan plan_run(const dist::PartitionScan& scan, const TrainOptions& options, int ranks, int threads,
                 std::int64_t program_bytes);

/// How the graph is read for a plan: levels and edges as training takes them.
dist::PartitionScan scan_for(const TrainOptions& options);

}  // namespace halo::train
