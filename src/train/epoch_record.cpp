#include "epoch_record.hpp"

#include <array>
#include <cmath>
#include <string>

namespace halo::train {

namespace {

struct NamedSeconds {
  const char* name;
  double EpochFigures::*member;
};

constexpr std::array<NamedSeconds, 12> kSeconds = {{
    {"epoch_seconds_max", &EpochFigures::epoch_seconds_max},
    {"epoch_seconds_mean", &EpochFigures::epoch_seconds_mean},
    {"train_seconds_max", &EpochFigures::train_seconds_max},
    {"train_seconds_mean", &EpochFigures::train_seconds_mean},
    {"halo_wait_seconds_max", &EpochFigures::halo_wait_seconds_max},
    {"halo_wait_seconds_mean", &EpochFigures::halo_wait_seconds_mean},
    {"halo_hidden_seconds_max", &EpochFigures::halo_hidden_seconds_max},
    {"halo_hidden_seconds_mean", &EpochFigures::halo_hidden_seconds_mean},
    {"allreduce_seconds_max", &EpochFigures::allreduce_seconds_max},
    {"allreduce_seconds_mean", &EpochFigures::allreduce_seconds_mean},
    {"exact_sum_seconds_max", &EpochFigures::exact_sum_seconds_max},
    {"exact_sum_seconds_mean", &EpochFigures::exact_sum_seconds_mean},
}};

}  // namespace

EpochFigures reduce_times(const mpi::Communicator& communicator, const EpochTimes& times) {
  const ExchangeStatistics& exchange = times.exchange;
  std::array<double, 8> largest = {times.epoch,
                                   times.train,
                                   exchange.halo_waited_seconds,
                                   exchange.allreduce_seconds,
                                   static_cast<double>(exchange.halo_bytes_sent),
                                   times.exact_sum,
                                   times.stop_requested ? 1.0 : 0.0,
                                   exchange.halo_hidden_seconds};
  std::array<double, 8> mean = largest;
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
          .halo_hidden_seconds_max = largest[7],
          .halo_hidden_seconds_mean = mean[7],
          .allreduce_seconds_max = largest[3],
          .allreduce_seconds_mean = mean[3],
          .exact_sum_seconds_max = largest[5],
          .exact_sum_seconds_mean = mean[5],
          .halo_bytes = bytes,
          .halo_bytes_max = static_cast<std::int64_t>(largest[4]),
          .stop_requested = largest[6] > 0.0};
}

nlohmann::json number_or_null(double x) {
  return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json(nullptr);
}

EpochFigures figures_of(const nlohmann::json& line) {
  EpochFigures figures;
  for (const auto& [name, member] : kSeconds) figures.*member = line.at(name).get<double>();
  figures.halo_bytes = line.at("halo_bytes");
  figures.halo_bytes_max = line.at("halo_bytes_max");
  return figures;
}

nlohmann::ordered_json named_scores(const Scoring& scoring) {
  constexpr std::array<const char*, nn::kSplits> kNames = {"train_", "val_", "test_"};
  nlohmann::ordered_json named;
  for (std::size_t split = 0; split < kNames.size(); ++split) {
    const std::string prefix = kNames[split];
    if (split > 0) named[prefix + "loss"] = number_or_null(scoring.loss[split]);
    for (const Metric& metric : scoring.metrics) {
      named[prefix + metric.name] = number_or_null(metric.value[split]);
    }
  }
  return named;
}

nlohmann::ordered_json metrics_line(const EpochResult& result, const EpochFigures& figures) {
  nlohmann::ordered_json line;
  line["epoch"] = result.epoch;
  line["train_loss"] = number_or_null(result.train_loss);
  if (result.scoring) line.update(named_scores(*result.scoring));
  line["learning_rate"] = result.learning_rate;
  if (result.gradient_norm) line["gradient_norm"] = number_or_null(*result.gradient_norm);
  for (const auto& [name, member] : kSeconds) line[name] = figures.*member;
  line["halo_bytes"] = figures.halo_bytes;
  line["halo_bytes_max"] = figures.halo_bytes_max;
  return line;
}

}  // namespace halo::train
