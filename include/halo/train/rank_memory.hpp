#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halo/datasets/partitioned_dataset.hpp"
#include "halo/graph/share_counts.hpp"
#include "halo/nn/schedule.hpp"
#include "halo/train/gather_choice.hpp"
#include "halo/train/options.hpp"

namespace halo::train {

struct PurposeBytes {
  std::string purpose;  ///< "features"
  std::int64_t bytes = 0;
};

/// Bytes of one rank at the moment of a run when it needs most, by purpose.
struct RankMemory {
  std::vector<PurposeBytes> purposes;

  std::int64_t total() const;
  /// 0 where there is no such purpose.
  std::int64_t of(const std::string& purpose) const;
};

/// What a rank needs, from counts: memory_of() says what the trainer will hold, since both follow from the
/// same schedules and the same choice of gathers.
struct RankMemoryInput {
  const datasets::PartitionManifest& manifest;
  const TrainOptions& options;
  const nn::Program& model;
  const nn::Schedules& schedules;
  const GatherChoice& gathers;
  int ranks = 1;
  int threads = 1;
  /// Of the process before it loads anything: program, MPI library.
  std::int64_t program_bytes = 0;
};
RankMemory memory_of(const graph::ShareCounts& counts, const RankMemoryInput& input);

/// Graph and features alone, which are known before they are read: what memory_of() cannot fall below.
RankMemory share_memory(const datasets::PartitionManifest& manifest, const graph::ShareCounts& counts,
                        const TrainOptions& options, std::int64_t program_bytes);

/// What this process has now and what libraries will still take as it trains: RankMemoryInput::program_bytes
/// of a process that has loaded nothing yet.
std::int64_t program_bytes();
/// The same of a process that is not there: as measured (docs/planning.md).
std::int64_t typical_program_bytes(int ranks_on_host);

/// Rows and bytes that a rank sends in the gathers of one epoch of training, without its evaluation.
struct HaloTraffic {
  std::int64_t rows = 0;  ///< of all gathers together
  std::int64_t bytes = 0;
  std::int64_t gathers = 0;
};
HaloTraffic traffic_of(const nn::Schedule& schedule, const graph::ShareCounts& counts,
                       const GatherChoice& gathers);

}  // namespace halo::train
