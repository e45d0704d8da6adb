#include "several_seeds.hpp"

#include <fmt/format.h>

#include <cmath>

#include "halo/base/log.hpp"
#include "halo/train/run_folder.hpp"
#include "model_files.hpp"
#include "resume.hpp"
#include "seed_run.hpp"

namespace halo::train {
namespace {

namespace fs = std::filesystem;

/// Mean and sample standard deviation (n - 1; null for one value); null values (an empty split) make null.
nlohmann::json statistics(const nlohmann::json& values) {
  double sum = 0.0;
  for (const auto& value : values) {
    if (value.is_null()) return {{"mean", nullptr}, {"std", nullptr}, {"values", values}};
    sum += value.get<double>();
  }
  const auto count = static_cast<double>(values.size());
  const double mean = sum / count;
  double squares = 0.0;
  for (const auto& value : values) squares += (value.get<double>() - mean) * (value.get<double>() - mean);
  nlohmann::json deviation = nullptr;
  if (values.size() > 1) deviation = std::sqrt(squares / (count - 1.0));
  return {{"mean", mean}, {"std", deviation}, {"values", values}};
}

bool is_score(const std::string& key) {
  return (key.starts_with("train_") || key.starts_with("val_") || key.starts_with("test_")) &&
         !key.ends_with("_seconds_median");
}

/// The options of one seed's run folder.
struct OfSeed {
  TrainOptions options;
  OptionRecord record;
};

OfSeed of_seed(const TrainOptions& options, const OptionRecord& record, std::uint64_t seed) {
  OfSeed of{.options = options, .record = record};
  of.options.runs = 1;
  of.options.seed = seed;
  of.record.set("runs", 1);
  of.record.set("seed", seed);
  if (options.out.empty()) return of;
  of.options.out = options.out / fmt::format("seed-{}", seed);
  of.record.set("out", of.options.out.string());
  return of;
}

void open_folder(const Session& session, const TrainOptions& options, const OptionRecord& record) {
  if (options.out.empty()) return;
  session.communicator().agree([&] {
    if (!session.leads()) return;
    if (options.resume) {
      renew_run_folder(options.out, record);
    } else {
      create_run_folder(options.out, record);
    }
  });
}

/// Refuses bad initial weights before there is a folder.
void check_initial_weights(const Session& session, const TrainOptions& options) {
  if (options.initial_weights.empty() || options.resume) return;
  std::vector<float> parameters(at(session.model().parameter_count()));
  const std::int64_t cols = options.model.embedding;
  Buffer<float> embedding(session.partition().graph.owned * cols);
  load_model(session, options.initial_weights, parameters, cols, embedding.span());
}

/// When several runs are resumed, the seed's may be finished, begun or not begun.
TrainOutcome train_or_continue(Session& session, OfSeed of, const TrainReport& report) {
  if (of.options.resume) {
    of.options.resume = run_is_there(session.communicator(), of.options.out);
  }
  if (of.options.resume) {
    nlohmann::json summary = finished_summary(session.communicator(), of.options, of.record);
    if (!summary.is_null()) {
      return {.was_finished = true, .stopped_by_signal = false, .epoch = 0, .summary = std::move(summary)};
    }
  }
  return SeedRun(session, of.options, of.record, report).go();
}

}  // namespace

nlohmann::json summarise_seeds(const std::vector<nlohmann::json>& summaries) {
  nlohmann::json summary = {{"runs", summaries.size()}};
  for (const nlohmann::json& of_seed : summaries) summary["seeds"].push_back(of_seed.at("seed"));
  for (const auto& [key, first] : summaries.front().items()) {
    if (!is_score(key) && key != "epoch_seconds_median") continue;
    nlohmann::json values = nlohmann::json::array();
    for (const nlohmann::json& of_seed : summaries) values.push_back(of_seed.at(key));
    summary[key] = statistics(values);
  }
  summary["metric"] = summaries.front().at("metric");
  return summary;
}

TrainOutcome train_several(Session& session, const TrainOptions& options, const OptionRecord& record,
                           const TrainReport& report) {
  check_initial_weights(session, options);
  open_folder(session, options, record);
  fs::path initial_weights = options.initial_weights;
  if (options.resume) {  // the first seed keeps them for those that have not begun
    const fs::path first = of_seed(options, record, options.seed).options.out;
    initial_weights = initial_weights_of(session.communicator(), first, initial_weights);
  }
  std::vector<nlohmann::json> summaries;
  for (std::int64_t k = 0; k < options.runs; ++k) {
    OfSeed of = of_seed(options, record, options.seed + static_cast<std::uint64_t>(k));
    of.options.initial_weights = initial_weights;
    if (session.leads()) spdlog::info("run {} of {}: seed {}", k + 1, options.runs, of.options.seed);
    TrainOutcome outcome = train_or_continue(session, of, report);
    if (outcome.stopped_by_signal) return outcome;
    summaries.push_back(std::move(outcome.summary));
  }
  nlohmann::json summary = summarise_seeds(summaries);
  session.communicator().agree([&] {
    if (session.leads() && !options.out.empty()) write_summary(options.out, summary);
  });
  return {.was_finished = false, .stopped_by_signal = false, .epoch = 0, .summary = std::move(summary)};
}

}  // namespace halo::train
