#include "epoch_record.hpp"

#include <array>
#include <cmath>

namespace halo::train {

EpochFigures reduce_times(const mpi::Communicator& communicator, const EpochTimes& times) {
  const ExchangeStatistics& exchange = times.exchange;
  std::array<double, 6> largest = {times.epoch,
                                   times.train,
                                   exchange.halo_waited_seconds,
                                   exchange.allreduce_seconds,
                                   static_cast<double>(exchange.halo_bytes_sent),
                                   times.exact_sum};
  std::array<double, 6> mean = largest;
  communicator.max(std::span<double>(largest));
  communicator.sum(std::span<double>(mean));
  const auto bytes = static_cast<std::int64_t>(mean[4]);
  for (double& value : mean) value /= communicator.size();
  return {.epoch_seconds_max = largest[0],
          .epoch_seconds_mean = mean[0],
          .train_seconds_max = largest[1],
          .train_seconds_mean = mean[1],
          .halo_wait_seconds_max = largest[2],
          .halo_wait_seconds_mean = mean[2],
          .allreduce_seconds_max = largest[3],
          .allreduce_seconds_mean = mean[3],
          .exact_sum_seconds_max = largest[5],
          .exact_sum_seconds_mean = mean[5],
          .halo_bytes = bytes,
          .halo_bytes_max = static_cast<std::int64_t>(largest[4])};
}

nlohmann::json number_or_null(double x) {
  return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json(nullptr);
}

nlohmann::ordered_json metrics_line(std::int64_t epoch, double train_loss, const nn::Scores* scores,
                                    const EpochFigures& figures) {
  nlohmann::ordered_json line;
  line["epoch"] = epoch;
  line["train_loss"] = number_or_null(train_loss);
  if (scores != nullptr) {
    line["train_accuracy"] = number_or_null(scores->accuracy[0]);
    line["val_loss"] = number_or_null(scores->loss[1]);
    line["val_accuracy"] = number_or_null(scores->accuracy[1]);
    line["test_loss"] = number_or_null(scores->loss[2]);
    line["test_accuracy"] = number_or_null(scores->accuracy[2]);
  }
  line["epoch_seconds_max"] = figures.epoch_seconds_max;
  line["epoch_seconds_mean"] = figures.epoch_seconds_mean;
  line["train_seconds_max"] = figures.train_seconds_max;
  line["train_seconds_mean"] = figures.train_seconds_mean;
  line["halo_wait_seconds_max"] = figures.halo_wait_seconds_max;
  line["halo_wait_seconds_mean"] = figures.halo_wait_seconds_mean;
  line["allreduce_seconds_max"] = figures.allreduce_seconds_max;
  line["allreduce_seconds_mean"] = figures.allreduce_seconds_mean;
  line["exact_sum_seconds_max"] = figures.exact_sum_seconds_max;
  line["exact_sum_seconds_mean"] = figures.exact_sum_seconds_mean;
  line["halo_bytes"] = figures.halo_bytes;
  line["halo_bytes_max"] = figures.halo_bytes_max;
  return line;
}

}  // namespace halo::train
