#pragma once

#include <cstdint>
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
      : executor_(executor), schedule_(schedule), data_(executor.data_of(schedule)), thread_(thread) {}

  void set_tile(const graph::Tile& tile) {
    rows_ = tile.rows;
    level_ = static_cast<std::int8_t>(tile.level);
  }
  void set_operation(const Operation& operation, const OperationRows& rows) {
    operation_ = &operation;
    edges_level_ = rows.edges;
  }

  std::int8_t level() const { return level_; }
  /// All rows of an input that is a gradient are zero in this tile.
  bool is_zero(std::size_t k) const { return level_ > schedule_.nonzero[at(operation_->inputs[k])]; }

  RowRange rows() const { return rows_; }
  bool has_input(std::size_t k) const { return k < operation_->inputs.size(); }
  /// Rows of the tile.
  MatrixView<const Real> input(std::size_t k) const { return tile_of(operation_->inputs[k]); }
  MatrixView<Real> output() const { return tile_of(operation_->output); }
  /// By local id: all rows of a value that is gathered, the halo included; of others those of the tile.
  MatrixView<const Real> whole_input(std::size_t k) const { return by_local_id(operation_->inputs[k]); }
  MatrixView<Real> whole_output() const { return by_local_id(operation_->output); }

  /// [rows x cols] of a parameter, and the group's partial sum of its gradient.
  MatrixView<const Real> parameter(ParameterId id) const {
    const Parameter& shape = schedule_.program.parameter(id);
    return {executor_.parameters_.data() + shape.offset, shape.rows, shape.cols};
  }
  /// [cols x rows] of a weight that LinearInputGradient multiplies by: transposed once in an epoch.
  MatrixView<const Real> transposed_parameter(ParameterId id) const {
    const Parameter& shape = schedule_.program.parameter(id);
    return {executor_.transposed_.at(id).data(), shape.cols, shape.rows};
  }
  MatrixView<Real> gradient(ParameterId id) const {
    return executor_.sums_.gradient(thread_, schedule_.program.parameter(id));
  }
  std::span<const Real> vector_parameter(ParameterId id) const {
    const auto view = parameter(id);
    return {view.data, static_cast<std::size_t>(view.cols)};
  }
  std::span<Real> vector_gradient(ParameterId id) const {
    const auto view = gradient(id);
    return {view.data, static_cast<std::size_t>(view.cols)};
  }

  /// Terms of a reduction that the operation adds to.
  std::span<double> reduction_terms(ReductionId id) const { return executor_.sums_.reduction(thread_, id); }
  /// A reduction over all rows of all ranks.
  const std::vector<double>& reduction(ReductionId id) const {
    return executor_.reductions_[static_cast<std::size_t>(id)];
  }
  /// Rows of all ranks that count in reductions.
  double active_rows() const { return static_cast<double>(graph().global_active); }
  /// 1 for rows of the tile that count in reductions; empty: all do.
  std::span<const std::uint8_t> active() const {
    return graph().active.empty() ? std::span<const std::uint8_t>() : tile_part(std::span(graph().active));
  }

  const graph::LocalGraph& graph() const { return data_.graph; }
  /// Those that the operation sums over: edges to rows that are all zero are left out.
  const graph::Adjacency& edges(Direction direction) const {
    const auto some = data_.edges_to_level.find({direction, edges_level_});
    if (some != data_.edges_to_level.end()) return some->second;
    return direction == Direction::kIn ? graph().in : graph().out();
  }
  /// Per owned row; empty for RowFactor::kOne.
  std::span<const Real> factor(RowFactor factor) const {
    switch (factor) {
      case RowFactor::kGcn:
        return data_.gcn_factor.span();
      case RowFactor::kInverseDegree:
        return data_.inverse_degree.span();
      case RowFactor::kOne:
        break;
    }
    return {};
  }
  /// Per owned row: 1 where a loop has to be added.
  std::span<const Real> loop() const { return data_.loop.span(); }
  CounterRng rng(std::uint64_t stream) const { return {executor_.seed_, executor_.epoch_, stream}; }
  std::span<const NodeId> original_ids() const { return tile_part(std::span(graph().original_id)); }
  /// Original ids of the owned nodes and, behind them, the halo nodes of a direction; for operations that say
  /// needs_neighbour_ids().
  std::span<const NodeId> neighbour_ids(Direction direction) const {
    return data_.neighbour_ids[graph().symmetric || direction == Direction::kIn ? 0 : 1];
  }

  MatrixView<const Real> features() const { return executor_.features_; }
  const EmbeddingRows<Real>& embedding() const { return executor_.embedding_; }
  const Targets& targets() const { return executor_.targets_; }
  std::span<const std::int32_t> labels() const { return tile_part(std::span(executor_.targets_.labels)); }
  std::span<const std::uint8_t> split_rows(int split) const {
    return tile_part(std::span(executor_.targets_.rows[static_cast<std::size_t>(split)]));
  }
  std::span<std::int32_t> predictions() const {
    return std::span(executor_.predictions_)
        .subspan(static_cast<std::size_t>(rows_.begin), static_cast<std::size_t>(rows_.size()));
  }
  void add(int split, Measure measure, double term) const {
    executor_.sums_.add(thread_, split, measure, term);
  }
  /// One for each class.
  std::span<ClassCounts> counts(int split) const {
    const auto classes = static_cast<std::size_t>(targets().cols);
    return executor_.sums_.counts(thread_).subspan(static_cast<std::size_t>(split) * classes, classes);
  }

 private:
  template <typename T>
  std::span<const T> tile_part(std::span<const T> whole) const {
    return whole.subspan(static_cast<std::size_t>(rows_.begin), static_cast<std::size_t>(rows_.size()));
  }
  template <typename T>
  std::span<const T> tile_part(std::span<T> whole) const {
    return tile_part(std::span<const T>(whole));
  }

  MatrixView<Real> tile_of(ValueId value) const {
    return executor_.tile_view(schedule_, value, thread_, rows_);
  }
  MatrixView<Real> by_local_id(ValueId value) const {
    if (schedule_.placements[at(value)].memory != Memory::kScratch) return executor_.view(schedule_, value);
    // Scratch begins with the tile's first row. As a number: a pointer must not leave its array.
    const MatrixView<Real> tile = tile_of(value);
    const auto skipped = static_cast<std::uintptr_t>(rows_.begin * tile.cols) * sizeof(Real);
    return {reinterpret_cast<Real*>(reinterpret_cast<std::uintptr_t>(tile.data) - skipped), rows_.end,
            tile.cols};
  }

  Executor<Real>& executor_;
  const Schedule& schedule_;
  const typename Executor<Real>::GraphData& data_;
  int thread_;
  RowRange rows_;
  std::int8_t level_ = 0;
  std::int8_t edges_level_ = 0;
  const Operation* operation_ = nullptr;
};

// One tile of one operation; defined beside the derivative rules in src/nn/ops/.
template <typename Real>
void run(const op::Input&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::Embedding&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::EmbeddingGradient&, const TileContext<Real>& tile);
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
void run(const op::Activation&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::ActivationGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::Dropout&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::ReluDropout&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::ReluDropoutGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::Add&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::Combine&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::Scale&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::AddScaled&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::AddScaledGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::Concat&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::Columns&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::Maximum&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::MaximumGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::HeadMean&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::HeadMeanGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::L2Norm&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::L2NormGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::LayerNorm&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::LayerNormGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::BatchNormStatistics&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::BatchNorm&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::BatchNormGradientSums&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::BatchNormGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::AttentionScores&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::AttentionScoresGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::AttentionNormaliser&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::AttentionSum&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::AttentionBackwardPack&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::AttentionSourceGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::AttentionTargetGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::AttentionV2Normaliser&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::AttentionV2Sum&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::AttentionV2BackwardPack&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::AttentionV2SourceGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::AttentionV2TargetGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::NeighbourMax&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::NeighbourMaxShare&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::NeighbourMaxGradient&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::PackHalf&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::UnpackHalf&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::Loss&, const TileContext<Real>& tile);
template <typename Real>
void run(const op::Score&, const TileContext<Real>& tile);

}  // namespace halo::nn
