#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "halo/base/buffer.hpp"
#include "halo/graph/local_graph.hpp"
#include "halo/mpi/communicator.hpp"
#include "halo/nn/executor.hpp"
#include "halo/optim/optimizer.hpp"
#include "halo/train/checkpoint.hpp"

namespace halo::train {

/// Learnt rows of this rank's nodes, their gradient and what their optimiser remembers. They live with the
/// nodes: nothing of them is sent but the halo rows of a layer, and no rank holds all. An optimiser treats
/// numbers one by one, so each row gets the same bits wherever it lives.
class EmbeddingState {
 public:
  /// Rows of `cols` columns (0: there are none), normal with deviation cols^-1/2, drawn by seed and original
  /// id.
  EmbeddingState(const graph::LocalGraph& graph, std::int64_t cols, const optim::OptimizerOptions& options,
                 std::uint64_t seed);

  bool empty() const { return cols_ == 0; }
  nn::EmbeddingRows<float> rows();
  std::span<float> values() { return values_.span(); }
  std::span<float> gradient() { return gradient_.span(); }
  void step(double learning_rate);
  void set_steps(std::int64_t steps) { optimizer_->set_steps(steps); }

  /// Keeps the present rows as those of the best evaluation, and puts them back.
  void keep_best() { best_.assign(values_.span().begin(), values_.span().end()); }
  void restore_best() { std::copy(best_.begin(), best_.end(), values_.data()); }

  /// Collective. Squares of the whole gradient, over all ranks, added exactly.
  double sum_of_squares(const mpi::Communicator& communicator) const;
  /// What a checkpoint keeps, `with_best` the best rows too; views.
  std::vector<ShardedArray> arrays(bool with_best);

 private:
  const graph::LocalGraph* graph_;
  std::int64_t cols_;
  Buffer<float> values_;    ///< [owned x cols]
  Buffer<float> gradient_;  ///< [owned x cols]
  std::vector<float> best_;
  std::unique_ptr<optim::Optimizer<float>> optimizer_;
};

}  // namespace halo::train
