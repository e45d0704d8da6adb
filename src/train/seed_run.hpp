#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "epoch_record.hpp"
#include "gather_totals.hpp"
#include "halo/train/checkpoint.hpp"
#include "halo/train/option_record.hpp"
#include "halo/train/options.hpp"
#include "halo/train/run_folder.hpp"
#include "halo/train/trainer.hpp"
#include "progress.hpp"
#include "run_figures.hpp"
#include "session.hpp"
#include "training_state.hpp"

namespace halo::train {

/// One run of one seed, from its first epoch (or a checkpoint) to its summary.
class SeedRun {
 public:
  /// Collective. `options` and `record` are those of this seed; with options.resume, options.out has a run.
  SeedRun(Session& session, const TrainOptions& options, const OptionRecord& record,
          const TrainReport& report);

  /// Collective.
  TrainOutcome go();

 private:
  void resume();
  /// The state before the first epoch: the seed's, or given weights in place of it.
  void load_initial(const std::filesystem::path& weights);
  void open_folder(std::int64_t metrics_bytes);
  CheckpointArrays take_state(const nlohmann::json& state);
  void check_belongs(const nlohmann::json& state) const;

  bool over() const;
  /// One epoch; returns whether a signal asked to stop after it.
  bool run_epoch();
  EpochResult train_epoch();
  /// Shortens the gradient, the embedding's too; returns its length before.
  double clip();
  bool on_grid() const { return state_.epoch % options_.evaluate_every == 0; }
  /// At the present parameters.
  Scoring evaluate();
  EpochFigures record(const EpochResult& result, const EpochTimes& times);
  /// Of something that this epoch does.
  TraceSpan span(TraceKind kind) { return {session_.recorder(), kind, state_.epoch}; }

  /// Returns what went wrong, "" if nothing did.
  std::string write_checkpoint();
  void write_due_checkpoint();
  TrainOutcome stop();
  TrainOutcome finish();
  nlohmann::json summarise(std::int64_t chosen_epoch, const Scoring& chosen) const;

  Session& session_;
  const TrainOptions& options_;
  const OptionRecord& record_;
  Progress progress_;
  TrainingState state_;
  CheckpointFolder checkpoints_;
  std::unique_ptr<MetricsFile> metrics_;  ///< rank 0, if there is a run folder
  std::vector<float> gradient_;
  RunFigures figures_;
  GatherTotals gathers_;
  std::size_t first_event_ = 0;  ///< in the trace
  Scoring last_;
  std::int64_t last_evaluated_ = 0;    ///< epoch of last_; 0: none
  std::int64_t resumed_from_ = 0;      ///< epoch of a checkpoint; 0: from the beginning
  std::int64_t checkpoint_epoch_ = 0;  ///< of the last good one; 0: none
};

}  // namespace halo::train
