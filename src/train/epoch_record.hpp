#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "halo/mpi/communicator.hpp"
#include "halo/train/dist_exchange.hpp"
#include "halo/train/metrics.hpp"

namespace halo::train {

/// What one rank measured in one epoch.
struct EpochTimes {
  double epoch = 0.0;      ///< seconds, evaluation included
  double train = 0.0;      ///< seconds of forward, backward and update
  double exact_sum = 0.0;  ///< seconds of exact additions, see Executor::exact_sum_seconds()
  ExchangeStatistics exchange;
  bool stop_requested = false;  ///< by a signal
};

/// The same over all ranks.
struct EpochFigures {
  double epoch_seconds_max = 0.0, epoch_seconds_mean = 0.0;
  double train_seconds_max = 0.0, train_seconds_mean = 0.0;
  double halo_wait_seconds_max = 0.0, halo_wait_seconds_mean = 0.0;
  double halo_hidden_seconds_max = 0.0, halo_hidden_seconds_mean = 0.0;
  double allreduce_seconds_max = 0.0, allreduce_seconds_mean = 0.0;
  double exact_sum_seconds_max = 0.0, exact_sum_seconds_mean = 0.0;
  std::int64_t halo_bytes = 0;      ///< sent by all ranks
  std::int64_t halo_bytes_max = 0;  ///< sent by one rank
  bool stop_requested = false;      ///< on any rank
};

/// Collective.
EpochFigures reduce_times(const mpi::Communicator& communicator, const EpochTimes& times);

/// What one epoch of training gave; the same on every rank.
struct EpochResult {
  std::int64_t epoch = 0;
  double train_loss = 0.0;
  double learning_rate = 0.0;
  std::optional<double> gradient_norm;  ///< before clipping; where it is clipped
  std::optional<Scoring> scoring;       ///< where the epoch was evaluated
};

/// A line of metrics.jsonl. Empty splits and losses that are not finite are null.
nlohmann::ordered_json metrics_line(const EpochResult& result, const EpochFigures& figures);

/// The figures that metrics_line() put into a line.
EpochFigures figures_of(const nlohmann::json& line);

/// "train_accuracy", "val_loss" ...: name -> value of all that an evaluation tells, but for the training loss
/// (which an epoch measures with dropout).
nlohmann::ordered_json named_scores(const Scoring& scoring);

/// JSON null where x is not finite.
nlohmann::json number_or_null(double x);

}  // namespace halo::train
