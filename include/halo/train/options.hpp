#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "halo/dist/halo_gather.hpp"
#include "halo/nn/models.hpp"
#include "halo/optim/optimizer.hpp"
#include "halo/optim/schedule.hpp"
#include "halo/train/task_options.hpp"

namespace halo::train {

/// What decides between two epochs which has the better weights, on the validation nodes.
enum class Selection {
  kLoss,
  kMetric,
  kBoth,  ///< loss and metric as good as ever; patience counts from where one of them was (Velickovic et al.
          ///< 2018, section 3.3)
};

/// "val_loss", "val_metric" or "val_both"; InputError on anything else.
Selection parse_selection(const std::string& text);

/// Everything that decides what a run computes and where it goes.
struct TrainOptions {
  std::filesystem::path partition{};        ///< partitioned dataset
  std::filesystem::path out{};              ///< run folder; empty: write nothing
  bool resume = false;                      ///< continue the run in `out`
  std::filesystem::path trace{};            ///< file for the trace of this job; empty: none
  std::filesystem::path initial_weights{};  ///< .safetensors file to begin with (learnt rows of nodes are in
                                            ///< embedding.npy beside it); empty: as the seed draws them
  nn::ModelOptions model{};
  TaskOptions task{};
  optim::OptimizerOptions optimizer{};
  optim::ScheduleOptions schedule{};    ///< its `epochs` is not read: those below count
  bool decay_first_layer_only = false;  ///< weight decay on the first layer, as Kipf and Welling; else on all
  double dense_weight_decay = -1.0;     ///< of parameters outside of graph layers; negative: as the others
  double clip_norm = 0.0;               ///< largest length of the gradient; 0: any
  bool row_normalise = false;           ///< divide each feature row by the sum of its absolute values
  bool row_normalise_l2 = false;        ///< divide each feature row by its length
  bool standardise = false;             ///< each feature column to mean 0 and deviation 1 over all nodes
  std::int64_t epochs = 200;
  std::int64_t evaluate_every = 1;  ///< epochs; the last one is always evaluated
  std::int64_t patience =
      0;  ///< evaluations without better validation figures before stopping; 0: never stop
  bool best_weights = false;  ///< keep the weights of the best evaluation; always so with patience
  Selection select = Selection::kLoss;
  std::uint64_t seed = 1;
  std::int64_t runs = 1;              ///< with seeds seed, seed + 1, ...
  std::int64_t checkpoint_every = 0;  ///< epochs; 0: only when a signal stops the run
  std::int64_t keep_checkpoints = 2;  ///< the newest ones
  std::int64_t memory_limit = 0;      ///< bytes that a rank may need; 0: what its host has
  int threads = 0;                    ///< per rank; 0: usable cores / ranks that share them
  dist::Transport transport = dist::Transport::kNonblocking;
};

/// InputError on options that no dataset makes right.
void check_options(const TrainOptions& options);

}  // namespace halo::train
