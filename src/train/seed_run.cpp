#include "seed_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "halo/base/cpu.hpp"
#include "halo/base/error.hpp"
#include "halo/base/log.hpp"
#include "halo/base/timer.hpp"
#include "halo/train/gradient_clipping.hpp"
#include "model_files.hpp"
#include "predictions.hpp"
#include "stop_signals.hpp"
#include "trace_summary.hpp"

namespace halo::train {
namespace {

/// The loss is an exact sum, so every rank finds it not finite in the same epoch.
class Diverged final : public Error, public mpi::Agreed {
 public:
  using Error::Error;
};

}  // namespace

SeedRun::SeedRun(Session& session, const TrainOptions& options, const OptionRecord& record,
                 const TrainReport& report)
    : session_(session),
      options_(options),
      record_(record),
      progress_(session.leads() && report.progress, options.epochs),
      state_(session.model(), session.partition().graph, options),
      checkpoints_(session.communicator(), options.out / "checkpoints", session.node_slice()),
      gradient_(state_.parameters.size()),
      first_event_(session.trace() != nullptr ? session.trace()->recorder().events().size() : 0) {}

TrainOutcome SeedRun::go() {
  if (options_.resume) {
    resume();
  } else {
    load_initial(options_.initial_weights);
    open_folder(0);
    if (!options_.initial_weights.empty() && !options_.out.empty()) {
      keep_initial_model(session_, options_.out, state_.parameters, state_.embedding.rows().values);
    }
  }
  session_.executor().set_embedding(state_.embedding.rows());
  progress_.begin(state_.epoch);
  while (!over()) {
    const bool asked_to_stop = run_epoch();
    if (asked_to_stop && !over() && !options_.out.empty()) return stop();
    if (options_.checkpoint_every > 0 && state_.epoch % options_.checkpoint_every == 0) {
      write_due_checkpoint();
    }
  }
  progress_.finish();
  return finish();
}

void SeedRun::load_initial(const std::filesystem::path& weights) {
  if (weights.empty()) return;
  load_model(session_, weights, state_.parameters, options_.model.embedding, state_.embedding.values());
  if (session_.leads()) spdlog::info("starting from the weights in {}", weights.string());
}

bool SeedRun::over() const {
  return state_.epoch >= options_.epochs || state_.best.out_of_patience();
}

void SeedRun::open_folder(std::int64_t metrics_bytes) {
  if (options_.out.empty()) return;
  session_.communicator().agree([&] {
    if (!session_.leads()) return;
    if (!options_.resume) create_run_folder(options_.out, record_);
    metrics_ = std::make_unique<MetricsFile>(options_.out, metrics_bytes);
    if (options_.resume) renew_run_folder(options_.out, record_);
    for (const nlohmann::json& line : metrics_->lines()) figures_.add(figures_of(line));
  });
}

bool SeedRun::run_epoch() {
  const Timer timer;
  ++state_.epoch;
  const TraceSpan traced = span(TraceKind::kEpoch);
  session_.exchange().reset_statistics();
  session_.executor().reset_exact_sum_seconds();
  EpochResult result = train_epoch();
  EpochTimes times;
  times.train = timer.seconds();
  times.exchange = session_.exchange().statistics();
  gathers_.add(session_.exchange().gathers());
  times.exact_sum = session_.executor().exact_sum_seconds();
  if (on_grid() || state_.epoch == options_.epochs) {
    last_ = evaluate();
    last_evaluated_ = state_.epoch;
    result.scoring = last_;
    // An evaluation only because the run ends here must not count in a run that goes on to more epochs.
    if (on_grid()) state_.judge(last_);
  }
  times.epoch = timer.seconds();
  times.stop_requested = StopSignals::requested();
  return record(result, times).stop_requested;
}

EpochResult SeedRun::train_epoch() {
  EpochResult result;
  result.epoch = state_.epoch;
  result.learning_rate = state_.learning_rate(state_.epoch);
  result.train_loss = session_.executor().train(state_.parameters, options_.seed,
                                                static_cast<std::uint64_t>(state_.epoch), gradient_);
  if (!std::isfinite(result.train_loss)) {
    throw Diverged(fmt::format("training diverged: the loss of epoch {} is not finite; lower --lr ({})",
                               state_.epoch, options_.optimizer.learning_rate));
  }
  const TraceSpan stepping = span(TraceKind::kOptimiser);
  if (options_.clip_norm > 0.0) result.gradient_norm = clip();
  state_.step(gradient_, result.learning_rate);
  return result;
}

double SeedRun::clip() {
  double squares = sum_of_squares<float>(gradient_);
  if (!state_.embedding.empty()) squares += state_.embedding.sum_of_squares(session_.communicator());
  clip_gradient<float>(state_.embedding.gradient(), squares, options_.clip_norm);
  return clip_gradient<float>(gradient_, squares, options_.clip_norm);
}

Scoring SeedRun::evaluate() {
  const TraceSpan traced = span(TraceKind::kEvaluation);
  return session_.evaluate(state_.parameters);
}

EpochFigures SeedRun::record(const EpochResult& result, const EpochTimes& times) {
  const TraceSpan reporting = span(TraceKind::kReport);
  const EpochFigures figures = reduce_times(session_.communicator(), times);
  figures_.add(figures);
  if (metrics_) metrics_->append(metrics_line(result, figures));
  EpochLine line{.epoch = result.epoch, .train_loss = result.train_loss, .validation = {}};
  if (result.scoring && session_.has_validation()) {
    line.validation = result.scoring->metrics.front().value[1];
  }
  progress_.show(line);
  return figures;
}

TrainOutcome SeedRun::finish() {
  if (last_evaluated_ != state_.epoch) last_ = evaluate();  // resumed after its last epoch
  if (!on_grid()) state_.judge(last_);
  std::int64_t chosen_epoch = state_.epoch;
  Scoring chosen = last_;
  if (state_.best.keeps()) {
    chosen_epoch = state_.best.epoch();
    state_.take_best();
    chosen = evaluate();
  }
  const mpi::Communicator& communicator = session_.communicator();
  nlohmann::json summary = summarise(chosen_epoch, chosen);
  if (!options_.out.empty()) {
    write_model(session_, options_.out, state_.parameters, state_.embedding.rows().values);
    write_predictions(session_, options_.out / "predictions.npy");
    communicator.agree([&] {  // last: a run folder with a summary is complete
      if (session_.leads()) write_summary(options_.out, summary);
    });
  }
  return {.stopped_by_signal = false, .epoch = state_.epoch, .summary = std::move(summary)};
}

/// As rank 0 has measured it; the same on every rank.
nlohmann::json SeedRun::summarise(std::int64_t chosen_epoch, const Scoring& chosen) const {
  const mpi::Communicator& communicator = session_.communicator();
  std::int64_t peak[] = {peak_resident_bytes()};
  communicator.max(std::span<std::int64_t>(peak));
  const datasets::PartitionManifest& manifest = session_.partition().manifest;
  const std::string metric = chosen.metrics.front().name;
  nlohmann::json summary = {{"dataset", manifest.name},
                            {"run_id", manifest.run_id},
                            {"ranks", communicator.size()},
                            {"threads", session_.threads()},
                            {"transport", to_string(session_.exchange().transport())},
                            {"seed", options_.seed},
                            {"epochs", state_.epoch},
                            {"stopped_early", state_.best.out_of_patience()},
                            {"resumed_from_epoch", resumed_from_},
                            {"chosen_epoch", chosen_epoch},
                            {"metric", metric},
                            {"peak_bytes_max", peak[0]},
                            {"parameters", session_.model().parameter_count()}};
  const nlohmann::ordered_json scores = named_scores(chosen);
  for (const auto& [name, value] : scores.items()) summary[name] = value;
  summary["test_" + metric + "_last"] = number_or_null(last_.metrics.front().value[2]);
  figures_.summarise(summary);
  summary["gathers"] = gathers_.summarise(communicator);
  if (session_.trace() != nullptr) {
    const auto events = session_.trace()->recorder().events().subspan(first_event_);
    summary["trace"] = summarise_trace(communicator, *session_.trace(), events);
  }
  return nlohmann::json::parse(communicator.broadcast(summary.dump(), 0));
}

}  // namespace halo::train
