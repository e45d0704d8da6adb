#include "training_state.hpp"

#include <algorithm>

namespace halo::train {
namespace {

/// Weight decay of a parameter in units of --weight-decay.
double decay_factor(const nn::Parameter& parameter, const TrainOptions& options) {
  if (options.decay_first_layer_only && parameter.layer != 0) return 0.0;
  const bool dense = !parameter.name.starts_with("convs.");
  if (!dense || options.dense_weight_decay < 0.0) return 1.0;
  return options.dense_weight_decay / options.optimizer.weight_decay;
}

std::vector<optim::FlatRange> decayed_ranges(const nn::Program& program, const TrainOptions& options) {
  std::vector<optim::FlatRange> ranges;
  for (const nn::Parameter& parameter : program.parameters) {
    const double factor = parameter.learnt ? decay_factor(parameter, options) : 0.0;
    if (factor == 0.0) continue;
    ranges.push_back(
        {.begin = parameter.offset, .end = parameter.offset + parameter.size(), .factor = factor});
  }
  return ranges;
}

optim::ScheduleOptions over_epochs(optim::ScheduleOptions options, std::int64_t epochs) {
  options.epochs = epochs;
  return options;
}

}  // namespace

TrainingState::TrainingState(const nn::Program& model, const graph::LocalGraph& graph,
                             const TrainOptions& options)
    : parameters(static_cast<std::size_t>(model.parameter_count())),
      embedding(graph, options.model.embedding, options.optimizer, options.seed),
      best(options),
      optimizer_(optim::make_optimizer<float>(options.optimizer, model.learnt_count(),
                                              decayed_ranges(model, options))),
      schedule_(over_epochs(options.schedule, options.epochs), options.optimizer.learning_rate) {
  nn::initialise_parameters(model, options.seed, parameters.data());
}

void TrainingState::judge(const Scoring& scoring) {
  schedule_.observe(scoring.loss[1]);
  best.judge(epoch, scoring, parameters);
  if (best.epoch() == epoch) embedding.keep_best();
}

void TrainingState::take_best() {
  std::copy(best.parameters().begin(), best.parameters().end(), parameters.begin());
  embedding.restore_best();
}

nlohmann::json TrainingState::to_json() const {
  return {{"epoch", epoch},
          {"optimizer_steps", optimizer_->steps()},
          {"schedule", schedule_.state()},
          {"best", best.state()}};
}

void TrainingState::set(const nlohmann::json& state) {
  epoch = state.at("epoch");
  optimizer_->set_steps(state.at("optimizer_steps"));
  embedding.set_steps(optimizer_->steps());
  schedule_.set_state(state.at("schedule").get<std::vector<double>>());
  best.set_state(state.at("best"), static_cast<std::int64_t>(parameters.size()));
}

CheckpointArrays TrainingState::arrays() {
  CheckpointArrays arrays;
  arrays.whole.push_back({.name = "parameters", .values = parameters});
  for (const optim::StateArray<float>& moment : optimizer_->state()) {
    arrays.whole.push_back({.name = "optimizer_" + moment.name, .values = moment.values});
  }
  if (best.epoch() > 0) arrays.whole.push_back({.name = "best_parameters", .values = best.parameters()});
  arrays.sharded = embedding.arrays(best.epoch() > 0);
  return arrays;
}

}  // namespace halo::train
