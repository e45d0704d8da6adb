#pragma once

#include <cstdint>

#include "halo/graph/share_counts.hpp"
#include "halo/nn/schedule.hpp"

namespace halo::nn {

/// Bytes that an executor holds on one rank, by purpose.
struct MemoryPlan {
  std::int64_t arena = 0;           ///< activations and gradients of rows, reused by liveness
  std::int64_t scratch = 0;         ///< the same of values that live for a tile, all threads
  std::int64_t constants = 0;       ///< folded constants
  std::int64_t sums = 0;            ///< partial and exact sums, all threads
  std::int64_t weights = 0;         ///< transposed weights
  std::int64_t row_factors = 0;     ///< degrees, loops and original ids of rows, as operations read them
  std::int64_t edges_to_level = 0;  ///< copies of the edges that an epoch needs of the levels below the last

  friend bool operator==(const MemoryPlan&, const MemoryPlan&) = default;
};

/// The same before anything is there, and what comes and goes.
struct MemoryForecast {
  MemoryPlan held;
  std::int64_t arena_touched = 0;  ///< bytes of pages of the arena that an epoch and an evaluation write to
  std::int64_t folding = 0;        ///< constants beside `held` while they are made
};

/// Whose memory is forecast.
struct ForecastOptions {
  bool two_graphs = false;   ///< the graph of training is not that of evaluation
  bool weighted = false;     ///< edges have weights
  std::int64_t classes = 0;  ///< of tasks whose predictions are counted by class, else 0
  int threads = 1;
};

/// What Executor<float> will hold on a rank with these counts; follows from the schedules alone. Its arena
/// is of huge pages where it is large (halo/base/buffer.hpp).
MemoryForecast forecast_memory(const Schedules& schedules, const graph::ShareCounts& counts,
                               const ForecastOptions& options);

}  // namespace halo::nn
