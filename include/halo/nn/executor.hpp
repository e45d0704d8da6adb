#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "halo/base/buffer.hpp"
#include "halo/base/matrix_view.hpp"
#include "halo/graph/local_graph.hpp"
#include "halo/nn/exchange.hpp"
#include "halo/nn/memory.hpp"
#include "halo/nn/row_loss.hpp"
#include "halo/nn/row_sums.hpp"
#include "halo/nn/schedule.hpp"
#include "halo/nn/stage_trace.hpp"
#include "halo/nn/targets.hpp"

namespace halo::nn {

template <typename Real>
class TileContext;

/// Learnt rows of the owned nodes and their gradient, both [owned x d], kept by the caller.
template <typename Real>
struct EmbeddingRows {
  MatrixView<const Real> values;
  MatrixView<Real> gradient;
};

/// Runs schedules on one rank's graph. Allocates when made and in fold_constants(); train() allocates
/// nothing.
template <typename Real>
class Executor {
 public:
  /// `features`: [owned x F], kept by the caller. The training and evaluation programs share their constants
  /// and the arena.
  Executor(Graphs graphs, MatrixView<const Real> features, Targets targets, Schedules schedules,
           Exchange<Real>& exchange, int threads);

  /// What op::Embedding and op::ExternalLoss of the programs work with; before the first run.
  void set_embedding(EmbeddingRows<Real> embedding) { embedding_ = embedding; }
  void set_row_loss(RowLoss<Real>* loss);

  /// Stages of train() and evaluate() are recorded from now on. The recorder has this executor's threads.
  void set_trace(TraceRecorder& recorder);

  /// What is held now: constants once they are folded.
  MemoryPlan memory_plan() const;
  /// Collective. Runs what depends on constants only; once, before the first epoch.
  void fold_constants();

  /// Collective. Forward and backward at `parameters` (the flat buffer), whose running statistics move on;
  /// fills the leading learnt part of `gradient` (flat too; zero behind). Returns the mean training loss.
  /// Loss and gradient are exact sums over all ranks; the loss is NaN if a term was not finite.
  double train(std::span<Real> parameters, std::uint64_t seed, std::uint64_t epoch, std::span<Real> gradient);

  /// Collective. Scores of all splits; predictions() and logits() then belong to these parameters. A program
  /// whose output is judged elsewhere (external loss, inference_program()) gives no scores.
  Scores evaluate(std::span<const Real> parameters);
  /// Single label: column of the largest output of each owned row.
  std::span<const std::int32_t> predictions() const { return predictions_; }
  /// [owned x classes]; valid until the next train() or evaluate().
  MatrixView<const Real> logits() const;
  const Targets& targets() const { return targets_; }

  /// Seconds of this rank spent on adding exactly (splitting terms, merging threads, reading the sums; not
  /// the allreduce) since the last reset: what reproducible sums cost.
  double exact_sum_seconds() const { return sums_.seconds(); }
  void reset_exact_sum_seconds() { sums_.reset_seconds(); }

  const Schedule& train_schedule() const { return train_; }

 private:
  template <typename>
  friend class TileContext;

  // What one graph gives to the operations.
  struct GraphData {
    GraphData(const graph::LocalGraph& graph_, bool needs_neighbour_ids);
    void add_edges_to_levels(const Schedule& schedule);
    std::int64_t factor_bytes() const;
    const graph::LocalGraph& graph;
    Buffer<Real> gcn_factor;
    Buffer<Real> inverse_degree;
    Buffer<Real> loop;
    std::vector<NodeId> neighbour_ids[2];  ///< original ids of owned and halo, per direction; on a symmetric
                                           ///< graph the first serves both
    /// Edges into rows of the levels below the last, where levels are known; built for those that a schedule
    /// sums over.
    std::map<std::pair<Direction, std::int8_t>, graph::Adjacency> edges_to_level;
    std::vector<std::int32_t> interior_groups[2];  ///< per direction
    std::vector<std::int32_t> boundary_groups[2];
    std::vector<std::int32_t> all_groups;
  };

  void fold(const Schedule& schedule);
  void keep_constants_read(const Schedule& schedule, const std::vector<std::string>& made);
  void transpose_weights();
  void run_epoch_stages(const Schedule& schedule, std::optional<StageTrace>& trace);
  void run_stage(const Schedule& schedule, const Stage& stage);
  void run_groups(const Schedule& schedule, const Stage& stage, std::span<const std::int32_t> groups,
                  TraceKind kind);
  void run_group(const Schedule& schedule, const Stage& stage, const graph::TileGroup& group, int thread);
  void run_operation(const Schedule& schedule, std::int32_t position, TileContext<Real>& context);
  void run_external_loss(const Schedule& schedule, const Operation& operation);
  void finish_reductions(const Schedule& schedule, const Stage& stage);
  void move_running_statistics(const Program& program, const op::BatchNorm& norm);
  Scores read_scores() const;

  Real* address(const Schedule& schedule, ValueId value);
  /// All rows of a value that is not in scratch.
  MatrixView<Real> view(const Schedule& schedule, ValueId value);
  /// The rows of a tile that `thread` works on.
  MatrixView<Real> tile_view(const Schedule& schedule, ValueId value, int thread, RowRange rows);
  const GraphData& data_of(const Schedule& schedule) const;

  GraphData train_data_;
  std::optional<GraphData> evaluation_data_;  ///< none where the training graph serves both
  MatrixView<const Real> features_;
  Targets targets_;
  Exchange<Real>& exchange_;
  int threads_;

  Schedule train_;
  Schedule evaluation_;
  Buffer<Real> arena_;
  std::vector<Buffer<Real>> scratch_;  ///< per thread
  std::map<std::string, Buffer<Real>> constants_;
  std::map<ParameterId, Buffer<Real>> transposed_;  ///< weights that backward multiplies by
  RowSums<Real> sums_;
  std::vector<std::vector<double>> reductions_;  ///< values of the training program's
  std::vector<std::int32_t> predictions_;
  EmbeddingRows<Real> embedding_;
  RowLoss<Real>* row_loss_ = nullptr;
  std::vector<Real> row_loss_gradient_;
  double row_loss_value_ = 0.0;

  std::optional<StageTrace> train_trace_;
  std::optional<StageTrace> evaluation_trace_;

  // Of the run that is going on.
  StageTrace* trace_ = nullptr;  ///< while stages of an epoch run that are recorded
  std::span<const Real> parameters_;
  std::span<Real> running_;  ///< the same buffer where statistics may move
  std::uint64_t seed_ = 0;
  std::uint64_t epoch_ = 0;
};

}  // namespace halo::nn
