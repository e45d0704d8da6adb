#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "halo/dist/halo_gather.hpp"
#include "halo/nn/models.hpp"
#include "halo/optim/optimizer.hpp"

namespace halo::train {

/// Everything that decides what a run computes and where it goes.
struct TrainOptions {
  std::filesystem::path partition{};  ///< partitioned dataset
  std::filesystem::path out{};        ///< run folder; empty: write nothing
  nn::ModelOptions model{};
  optim::OptimizerOptions optimizer{};
  bool decay_first_layer_only = false;  ///< weight decay on the first layer, as Kipf and Welling; else on all
  bool row_normalise = false;           ///< divide each feature row by the sum of its absolute values
  std::int64_t epochs = 200;
  std::int64_t evaluate_every = 1;  ///< epochs; the last one is always evaluated
  std::int64_t patience = 0;  ///< evaluations without a better validation loss before stopping; 0: never stop
  std::uint64_t seed = 1;
  int threads = 0;  ///< per rank; 0: usable cores / ranks that share them
  dist::Transport transport = dist::Transport::kNonblocking;
};

nlohmann::json to_json(const TrainOptions& options);

/// InputError on options that no dataset makes right.
void check_options(const TrainOptions& options);

}  // namespace halo::train
