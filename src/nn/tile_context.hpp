#pragma once

#include <span>

#include "halo/base/counter_rng.hpp"
#include "halo/base/matrix_view.hpp"
#include "halo/graph/local_graph.hpp"
#include "halo/nn/executor.hpp"
#include "halo/nn/operations.hpp"

namespace halo::nn {

/// What one operation sees while it runs on one tile: its rows of inputs and output, and the sums of the
/// thread's current group.
template <typename Real>
class TileContext {
 public:
  TileContext(Executor<Real>& executor, const Schedule& schedule, int thread)
      : executor_(executor), schedule_(schedule), thread_(thread) {}

  void set_tile(RowRange rows) { rows_ = rows; }
  void set_operation(const Operation& operation) { operation_ = &operation; }

  RowRange rows() const { return rows_; }
  bool has_input(std::size_t k) const { return k < operation_->inputs.size(); }
  /// Rows of the tile.
  MatrixView<const Real> input(std::size_t k) const { return whole_input(k).slice(rows_); }
  MatrixView<Real> output() const { return whole_output().slice(rows_); }
  /// All rows, the halo included where it was gathered.
  MatrixView<const Real> whole_input(std::size_t k) const {
    return executor_.view(schedule_, operation_->inputs[k]);
  }
  MatrixView<Real> whole_output() const { return executor_.view(schedule_, operation_->output); }

  /// [rows x cols] of a parameter, and the group's partial sum of its gradient.
  MatrixView<const Real> parameter(ParameterId id) const {
    const Parameter& shape = schedule_.program.parameter(id);
    return {executor_.parameters_.data() + shape.offset, shape.rows, shape.cols};
  }
  MatrixView<Real> gradient(ParameterId id) const {
    const Parameter& shape = schedule_.program.parameter(id);
    return {executor_.sums_[static_cast<std::size_t>(thread_)].gradient_partial.data() + shape.offset,
            shape.rows, shape.cols};
  }
  std::span<const Real> vector_parameter(ParameterId id) const {
    const auto view = parameter(id);
    return {view.data, static_cast<std::size_t>(view.cols)};
  }
  std::span<Real> vector_gradient(ParameterId id) const {
    const auto view = gradient(id);
    return {view.data, static_cast<std::size_t>(view.cols)};
  }

  const graph::LocalGraph& graph() const { return executor_.graph_; }
  /// Per owned row; empty for RowFactor::kOne.
  std::span<const Real> factor(RowFactor factor) const { return executor_.factor(factor); }
  std::span<const Real> loop() const { return executor_.loop_.span(); }
  CounterRng rng(std::uint64_t stream) const { return {executor_.seed_, executor_.epoch_, stream}; }
  std::span<const NodeId> original_ids() const { return tile_part(std::span(executor_.graph_.original_id)); }

  MatrixView<const Real> features() const { return executor_.features_; }
  std::span<const std::int32_t> labels() const { return tile_part(std::span(executor_.targets_.labels)); }
  std::span<const std::uint8_t> split_rows(int split) const {
    return tile_part(std::span(executor_.targets_.rows[static_cast<std::size_t>(split)]));
  }
  std::int64_t split_count(int split) const {
    return executor_.targets_.global_count[static_cast<std::size_t>(split)];
  }
  std::span<std::int32_t> predictions() const {
    return std::span(executor_.predictions_)
        .subspan(static_cast<std::size_t>(rows_.begin), static_cast<std::size_t>(rows_.size()));
  }
  void add_loss(int split, double loss) const { executor_.add_loss(thread_, split, loss); }
  void add_hits(int split, std::int64_t hits) const { executor_.add_hits(thread_, split, hits); }

 private:
  template <typename T>
  std::span<const T> tile_part(std::span<const T> whole) const {
    return whole.subspan(static_cast<std::size_t>(rows_.begin), static_cast<std::size_t>(rows_.size()));
  }
  template <typename T>
  std::span<const T> tile_part(std::span<T> whole) const {
    return tile_part(std::span<const T>(whole));
  }

  Executor<Real>& executor_;
  const Schedule& schedule_;
  int thread_;
  RowRange rows_;
  const Operation* operation_ = nullptr;
};

// One tile of one operation; defined beside the derivative rules in src/nn/ops/.
template <typename Real>
void run(const op::Input&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::Linear&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::LinearInputGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::LinearWeightGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::AddBias&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::BiasGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::ScaleRows&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::NeighbourSum&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::Relu&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::ReluGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::Dropout&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::ReluDropout&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::ReluDropoutGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::Add&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::CrossEntropy&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::Score&, const TileContext<Real>& tile);

}  // namespace halo::nn
