#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "halo/base/buffer.hpp"
#include "halo/base/matrix_view.hpp"
#include "halo/graph/local_graph.hpp"
#include "halo/nn/exchange.hpp"
#include "halo/nn/schedule.hpp"

namespace halo::nn {

/// Training, validation and test rows, in this order everywhere.
inline constexpr int kSplits = 3;

/// What the loss and the score compare with.
struct Targets {
  std::vector<std::int32_t> labels;  ///< owned
  std::array<std::vector<std::uint8_t>, kSplits>
      rows;  ///< owned; 1: the row belongs to the split and has a label
  std::array<std::int64_t, kSplits> global_count = {};  ///< over all ranks
};

/// Exact results of one evaluation, the same on every rank.
struct Scores {
  std::array<double, kSplits> loss = {};  ///< mean cross-entropy; NaN for an empty split
  std::array<std::int64_t, kSplits> hits = {};
  std::array<double, kSplits> accuracy = {};  ///< hits / rows; NaN for an empty split
};

/// Bytes per rank that a run needs, by purpose; they follow from the schedules alone.
struct MemoryPlan {
  std::int64_t arena = 0;      ///< activations and gradients of rows, reused by liveness
  std::int64_t constants = 0;  ///< folded constants
  std::int64_t sums = 0;       ///< partial and exact sums of parameter gradients, all threads
};

/// Runs schedules on one rank's graph. Allocates when made and in fold_constants(); running an epoch
/// allocates nothing.
template <typename Real>
class Executor {
 public:
  /// `features`: [owned x F], kept by the caller. The training and evaluation programs share their constants
  /// and the arena.
  Executor(const graph::LocalGraph& graph, MatrixView<const Real> features, Targets targets,
           Schedules schedules, Exchange<Real>& exchange, int threads);

  MemoryPlan memory_plan() const;
  /// Collective. Runs what depends on constants only; once, before the first epoch.
  void fold_constants();

  /// Collective. Forward and backward at `parameters`; returns the mean training loss and fills `gradient`
  /// (flat, as the parameters), both exact sums over all ranks. NaN loss if a term was not finite.
  double train(std::span<const Real> parameters, std::uint64_t seed, std::uint64_t epoch,
               std::span<Real> gradient);

  /// Collective. Scores of all splits; predictions() and logits() then belong to these parameters.
  Scores evaluate(std::span<const Real> parameters);
  std::span<const std::int32_t> predictions() const { return predictions_; }
  /// [owned x classes]; valid until the next train() or evaluate().
  MatrixView<const Real> logits() const;

  /// Seconds of this rank spent on adding exactly (splitting terms, merging threads, reading the sums; not
  /// the allreduce) since the last reset: what reproducible sums cost.
  double exact_sum_seconds() const;
  void reset_exact_sum_seconds();

  const Schedule& train_schedule() const { return train_; }
  const Schedule& evaluation_schedule() const { return evaluation_; }

 private:
  template <typename>
  friend class TileContext;

  // The exact sums of a run: gradients of all parameters, then the losses of the splits, then the hits.
  struct Sums {
    Buffer<Real> gradient_partial;  ///< of the thread's current group
    std::array<double, kSplits> loss_partial = {};
    double seconds = 0.0;        ///< in exact additions
    Buffer<std::int64_t> limbs;  ///< [gradient limbs | loss limbs | hits]
  };

  void lay_out_arena(const Schedule& schedule);
  void fold(const Schedule& schedule);
  void run_stages(const Schedule& schedule, const std::vector<Stage>& stages);
  void run_stage(const Schedule& schedule, const Stage& stage);
  void run_groups(const Schedule& schedule, const Stage& stage, std::span<const std::int32_t> groups);
  void run_group(const Schedule& schedule, const Stage& stage, const graph::TileGroup& group, int thread);
  void clear_partials(const Schedule& schedule, const Stage& stage, Sums& sums);
  void add_partials(const Schedule& schedule, const Stage& stage, Sums& sums);
  void clear_sums();
  std::span<std::int64_t> merge_sums(bool gradients);
  double total_loss(int split);

  std::span<std::int64_t> gradient_limbs(Buffer<std::int64_t>& limbs) const;
  std::span<std::int64_t> loss_limbs(Buffer<std::int64_t>& limbs) const;
  void add_loss(int thread, int split, double loss);
  void add_hits(int thread, int split, std::int64_t hits);

  Real* address(const Schedule& schedule, ValueId value);
  MatrixView<Real> view(const Schedule& schedule, ValueId value);
  std::span<const Real> factor(RowFactor factor) const;

  const graph::LocalGraph& graph_;
  MatrixView<const Real> features_;
  Targets targets_;
  Exchange<Real>& exchange_;
  int threads_;

  Schedule train_;
  Schedule evaluation_;
  Buffer<Real> arena_;
  std::map<std::string, Buffer<Real>> constants_;
  std::map<const Schedule*, std::vector<std::int64_t>> slot_offsets_;
  Buffer<Real> gcn_factor_;
  Buffer<Real> inverse_degree_;
  Buffer<Real> loop_;
  std::array<std::vector<std::int32_t>, 2> interior_groups_;  ///< per direction
  std::array<std::vector<std::int32_t>, 2> boundary_groups_;
  std::vector<std::int32_t> all_groups_;

  std::int64_t parameter_count_ = 0;
  std::vector<Sums> sums_;  ///< one per thread
  double merge_seconds_ = 0.0;
  std::vector<std::int32_t> predictions_;

  // Of the run that is going on.
  std::span<const Real> parameters_;
  std::uint64_t seed_ = 0;
  std::uint64_t epoch_ = 0;
};

}  // namespace halo::nn
