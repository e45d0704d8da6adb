#include "embedding_state.hpp"

#include <cmath>

#include "group_sums.hpp"
#include "halo/base/counter_rng.hpp"

namespace halo::train {
namespace {

constexpr std::uint64_t kEmbeddingStream = 0x2000000;  // apart from every dropout stream and every parameter

}  // namespace

EmbeddingState::EmbeddingState(const graph::LocalGraph& graph, std::int64_t cols,
                               const optim::OptimizerOptions& options, std::uint64_t seed)
    : graph_(&graph),
      cols_(cols),
      values_(graph.owned * cols),
      gradient_(graph.owned * cols),
      optimizer_(optim::make_optimizer<float>(options, graph.owned * cols, {{0, graph.owned * cols}})) {
  const CounterRng rng(seed, 0, kEmbeddingStream);
  const double deviation = cols > 0 ? 1.0 / std::sqrt(static_cast<double>(cols)) : 0.0;
  for (LocalId i = 0; i < graph.owned; ++i) {
    RandomStream random(rng.row_key(graph.original_id[at(i)]));
    for (std::int64_t c = 0; c < cols; ++c) {
      values_.data()[i * cols + c] = static_cast<float>(deviation * random.normal());
    }
  }
  gradient_.fill(0.0F);
}

nn::EmbeddingRows<float> EmbeddingState::rows() {
  return {.values = {values_.data(), graph_->owned, cols_},
          .gradient = {gradient_.data(), graph_->owned, cols_}};
}

void EmbeddingState::step(double learning_rate) {
  optimizer_->step(values_.span(), gradient_.span(), learning_rate);
}

double EmbeddingState::sum_of_squares(const mpi::Communicator& communicator) const {
  return sum_over_rows(communicator, *graph_, 1,
                       [&](std::int64_t row, std::span<double> sum) {
                         for (std::int64_t k = row * cols_; k < (row + 1) * cols_; ++k) {
                           const auto value = static_cast<double>(gradient_.data()[k]);
                           sum[0] += value * value;
                         }
                       })
      .front();
}

std::vector<ShardedArray> EmbeddingState::arrays(bool with_best) {
  if (empty()) return {};
  std::vector<ShardedArray> arrays = {{.name = "embedding", .cols = cols_, .rows = values_.span()}};
  for (const optim::StateArray<float>& moment : optimizer_->state()) {
    arrays.push_back({.name = "embedding_optimizer_" + moment.name, .cols = cols_, .rows = moment.values});
  }
  if (with_best) {
    best_.resize(values_.span().size());
    arrays.push_back({.name = "best_embedding", .cols = cols_, .rows = best_});
  }
  return arrays;
}

}  // namespace halo::train
