#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "best_weights.hpp"
#include "embedding_state.hpp"
#include "halo/optim/optimizer.hpp"
#include "halo/optim/schedule.hpp"
#include "halo/train/checkpoint.hpp"
#include "halo/train/options.hpp"
#include "session.hpp"

namespace halo::train {

/// All that the next epoch depends on, beside the options: what a checkpoint keeps. The same on every rank
/// but for the embedding, of which each rank has the rows of its nodes.
class TrainingState {
 public:
  /// As before the first epoch. InputError on options of the optimiser or schedule that are out of range.
  TrainingState(const nn::Program& model, const graph::LocalGraph& graph, const TrainOptions& options);

  std::int64_t epoch = 0;  ///< the last one done
  std::vector<float> parameters;
  EmbeddingState embedding;
  BestWeights best;

  double learning_rate(std::int64_t of_epoch) const { return schedule_.learning_rate(of_epoch); }
  void step(std::span<const float> gradient, double learning_rate) {
    optimizer_->step(parameters, gradient, learning_rate);
    if (!embedding.empty()) embedding.step(learning_rate);
  }
  /// Puts the weights of the best evaluation in place of the last.
  void take_best();
  /// After an evaluation that counts.
  void judge(const Scoring& scoring);

  nlohmann::json to_json() const;
  /// The reverse; arrays() then has the places for the rest.
  void set(const nlohmann::json& state);
  /// What a checkpoint keeps beside to_json(); views.
  CheckpointArrays arrays();

 private:
  std::unique_ptr<optim::Optimizer<float>> optimizer_;
  optim::LearningRateSchedule schedule_;
};

}  // namespace halo::train
