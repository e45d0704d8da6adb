#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "halo/mpi/communicator.hpp"
#include "halo/nn/executor.hpp"
#include "halo/train/dist_exchange.hpp"

namespace halo::train {

/// What one rank measured in one epoch.
struct EpochTimes {
  double epoch = 0.0;      ///< seconds, evaluation included
  double train = 0.0;      ///< seconds of forward, backward and update
  double exact_sum = 0.0;  ///< seconds of exact additions, see Executor::exact_sum_seconds()
  ExchangeStatistics exchange;
};

/// The same over all ranks.
struct EpochFigures {
  double epoch_seconds_max = 0.0, epoch_seconds_mean = 0.0;
  double train_seconds_max = 0.0, train_seconds_mean = 0.0;
  double halo_wait_seconds_max = 0.0, halo_wait_seconds_mean = 0.0;
  double allreduce_seconds_max = 0.0, allreduce_seconds_mean = 0.0;
  double exact_sum_seconds_max = 0.0, exact_sum_seconds_mean = 0.0;
  std::int64_t halo_bytes = 0;      ///< sent by all ranks
  std::int64_t halo_bytes_max = 0;  ///< sent by one rank
};

/// Collective.
EpochFigures reduce_times(const mpi::Communicator& communicator, const EpochTimes& times);

/// A line of metrics.jsonl; `scores` is nullptr in an epoch without evaluation. Empty splits and losses that
/// are not finite are null.
nlohmann::ordered_json metrics_line(std::int64_t epoch, double train_loss, const nn::Scores* scores,
                                    const EpochFigures& figures);

/// JSON null where x is not finite.
nlohmann::json number_or_null(double x);

}  // namespace halo::train
