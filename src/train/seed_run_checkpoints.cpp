// How a run of one seed is interrupted and continued.

#include <fmt/format.h>

#include "halo/base/error.hpp"
#include "halo/base/log.hpp"
#include "model_files.hpp"
#include "seed_run.hpp"

namespace halo::train {
namespace {

/// "layers.0.weight [1433 x 16], ...": two programs with the same text have the same parameters.
std::string describe(const nn::Program& model) {
  std::string text;
  for (const nn::Parameter& parameter : model.parameters) {
    text += fmt::format("{}{} [{} x {}]", text.empty() ? "" : ", ", parameter.name, parameter.rows,
                        parameter.cols);
  }
  return text;
}

void check_same(const std::string& what, const std::string& stored, const std::string& found) {
  if (stored == found) return;
  throw InputError({.what = fmt::format("the checkpoint is of another {}", what),
                    .where = "--resume",
                    .found = found,
                    .expected = fmt::format("{}, as in the checkpoint", stored),
                    .next = "resume with what the run began with, or start a new run"});
}

}  // namespace

/// A run that was killed before its first checkpoint starts again from the beginning.
void SeedRun::resume() {
  const mpi::Communicator& communicator = session_.communicator();
  const nlohmann::json state =
      checkpoints_.read_newest([this](const nlohmann::json& found) { return take_state(found); });
  communicator.agree([&] {
    if (!state.is_null() || !session_.leads() || stored_summary(options_.out).is_null()) return;
    throw InputError({.what = "a finished run without a checkpoint cannot be continued",
                      .where = "--resume " + options_.out.string(),
                      .found = "no usable checkpoint",
                      .expected = "a checkpoint to raise --epochs from",
                      .next = "start a new run, with --checkpoint-every"});
  });
  if (state.is_null()) {
    // A damaged checkpoint may have been read in part.
    state_ = TrainingState(session_.model(), session_.partition().graph, options_);
    load_initial(initial_weights_of(communicator, options_.out, options_.initial_weights));
    if (session_.leads()) {
      spdlog::warn("{} has no usable checkpoint: starting from the beginning", options_.out.string());
    }
  } else {
    checkpoint_epoch_ = resumed_from_ = state_.epoch;
  }
  open_folder(state.is_null() ? 0 : state.at("metrics_bytes").get<std::int64_t>());
}

CheckpointArrays SeedRun::take_state(const nlohmann::json& state) {
  check_belongs(state);
  state_.set(state);
  return state_.arrays();
}

void SeedRun::check_belongs(const nlohmann::json& state) const {
  check_same("partitioned dataset", state.at("run_id"), session_.partition().manifest.run_id);
  check_continues(state.at("options"), record_, "the checkpoint");
  check_same("model", state.at("model"), describe(session_.model()));
}

std::string SeedRun::write_checkpoint() {
  const TraceSpan writing = span(TraceKind::kCheckpoint);
  nlohmann::json state = state_.to_json();
  state["seed"] = options_.seed;
  state["run_id"] = session_.partition().manifest.run_id;
  state["model"] = describe(session_.model());
  state["options"] = record_.to_json();
  try {
    session_.communicator().agree([&] {
      if (metrics_) state["metrics_bytes"] = metrics_->sync();
    });
  } catch (const std::exception& error) {
    if (!mpi::is_agreed(error)) throw;
    return error.what();
  }
  const std::string failure =
      checkpoints_.write(state_.epoch, state, state_.arrays(), options_.keep_checkpoints);
  if (failure.empty()) checkpoint_epoch_ = state_.epoch;
  return failure;
}

void SeedRun::write_due_checkpoint() {
  const std::string failure = write_checkpoint();
  if (failure.empty() || !session_.leads()) return;
  spdlog::warn("no checkpoint of epoch {}, training goes on{}: {}", state_.epoch,
               checkpoint_epoch_ > 0 ? fmt::format(" and that of epoch {} stays", checkpoint_epoch_) : "",
               failure);
}

/// After a signal, with all ranks in the same epoch.
TrainOutcome SeedRun::stop() {
  progress_.finish();
  const std::string failure = write_checkpoint();
  session_.communicator().agree([&] {
    if (failure.empty()) return;
    throw Error(fmt::format(
        "stopped by a signal after epoch {}, but its checkpoint could not be written{}: {}", state_.epoch,
        checkpoint_epoch_ > 0 ? fmt::format(" (the last one is of epoch {})", checkpoint_epoch_) : "",
        failure));
  });
  return {.stopped_by_signal = true, .epoch = state_.epoch, .summary = nullptr};
}

}  // namespace halo::train
