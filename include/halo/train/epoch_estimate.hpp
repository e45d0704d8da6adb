#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "halo/dist/partition_scan.hpp"
#include "halo/mpi/communicator.hpp"
#include "halo/train/run_plan.hpp"

namespace halo::train {

class Calibration;

/// How messages travel between two ranks.
struct Link {
  double bandwidth = 0.0;  ///< bytes per second; 0: as this machine copies memory
  double latency = 0.0;    ///< seconds of a small message
};

/// Collective. Between ranks half of all apart, which are on different hosts if any are: messages of 4 bytes
/// and of 4 MiB, all ranks at once. Of one rank alone: nothing to measure, {}.
Link measure_link(const mpi::Communicator& communicator);

/// Where ranks run: those of one host share its memory and cores.
struct Hosts {
  int ranks_each = 1;
  int cores = 1;  ///< of one host
};

/// What one rank does in an epoch, and how long it takes. docs/planning.md has the formula.
struct EpochWork {
  double product_flops = 0.0;
  double gathered_bytes = 0.0;  ///< rows of neighbours, once for each edge
  double streamed_bytes = 0.0;  ///< values that go to memory and come from it
  double halo_bytes = 0.0;      ///< sent
  double product_seconds = 0.0;
  double edge_seconds = 0.0;
  double stream_seconds = 0.0;
  double other_seconds = 0.0;  ///< elementwise, exact sums, loss, optimiser
  double communication_seconds = 0.0;

  double seconds() const {
    return product_seconds + edge_seconds + stream_seconds + other_seconds + communication_seconds;
  }
};

/// Of the slowest rank.
struct EpochEstimate {
  EpochWork training;
  EpochWork evaluation;
};

/// Estimates epochs on machines like this one: kernels are measured here when first needed, a second or two
/// in all.
class EpochEstimator {
 public:
  EpochEstimator(const dist::PartitionScan& scan, const TrainOptions& options);
  ~EpochEstimator();

  EpochEstimate estimate(const RunPlan& plan, const Link& link, const Hosts& hosts);

 private:
  Calibration& calibration(int threads, std::int64_t matrix_rows);

  const dist::PartitionScan& scan_;
  RunPlanner planner_;
  struct Measured;
  std::vector<std::unique_ptr<Measured>> measured_;
};

}  // namespace halo::train
