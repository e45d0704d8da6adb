// loss = 1/n sum over training rows of
//   single label:  -sum_c t_ic log softmax(x_i)_c       dx_i = (softmax(x_i) sum_c t_ic - t_i) / n
//                  t: the smoothed, weighted label      n: the rows, or the sum of their weights
//   multi-label:   sum_c log(1 + exp x_ic) - y_ic x_ic  dx_i = (sigmoid(x_i) - y_i) / n
//                                                       n: the rows times the classes
//   regression:    sum_c (x_ic - y_ic)^2                dx_i = 2 (x_i - y_i) / n
//                  or sum_c |x_ic - y_ic|               dx_i = sign(x_i - y_i) / n
//                                                       n: the known entries
// n counts the rows of all ranks; rows without a label have dx_i = 0.
// score: per split the same loss, and for each class how often it was right, wrongly found and missed; of a
// tie between outputs the lowest class counts.

#include "../tile_context.hpp"
#include "halo/kernels/losses.hpp"
#include "halo/kernels/rows.hpp"

namespace halo::nn {
namespace {

template <typename T, typename Real>
MatrixView<const T> target_rows(const std::vector<T>& values, const TileContext<Real>& tile) {
  return MatrixView<const T>(values.data(), tile.graph().owned, tile.targets().cols).slice(tile.rows());
}

template <typename Real>
double single_label_loss(const TileContext<Real>& tile, int split, double scale, MatrixView<Real> dx) {
  const Targets& targets = tile.targets();
  if (targets.class_weights.empty() && targets.label_smoothing == 0.0) {
    return kernels::softmax_cross_entropy(tile.input(0), tile.labels(), tile.split_rows(split), scale, dx);
  }
  const kernels::SoftLabels labels{
      .labels = tile.labels(), .weights = targets.class_weights, .smoothing = targets.label_smoothing};
  return kernels::soft_cross_entropy(tile.input(0), labels, tile.split_rows(split), scale, dx);
}

/// Adds the loss of a split; dx, where it is not empty, receives the gradient times `scale`.
template <typename Real>
void add_loss(const TileContext<Real>& tile, int split, double scale, MatrixView<Real> dx) {
  const Targets& targets = tile.targets();
  if (targets.task == Task::kSingleLabel) {
    tile.add(split, Measure::kLoss, single_label_loss(tile, split, scale, dx));
  } else if (targets.task == Task::kMultiLabel) {
    tile.add(split, Measure::kLoss,
             kernels::binary_cross_entropy(tile.input(0), target_rows(targets.multi_labels, tile),
                                           tile.split_rows(split), scale, dx));
  } else {
    const bool squared = targets.task == Task::kSquaredError;
    const kernels::Errors errors = kernels::regression_errors(
        tile.input(0), target_rows(targets.values, tile), tile.split_rows(split), squared, scale, dx);
    tile.add(split, Measure::kLoss, squared ? errors.squared : errors.absolute);
    tile.add(split, Measure::kSquaredError, errors.squared);
    tile.add(split, Measure::kAbsoluteError, errors.absolute);
  }
}

void count(ClassCounts& counts, bool found, bool is) {
  counts.true_positive += found && is ? 1 : 0;
  counts.false_positive += found && !is ? 1 : 0;
  counts.false_negative += !found && is ? 1 : 0;
}

template <typename Real>
void count_single_label(const TileContext<Real>& tile, int split) {
  const auto rows = tile.split_rows(split);
  const auto counts = tile.counts(split);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r] == 0) continue;
    const std::int32_t found = tile.predictions()[r];
    const std::int32_t is = tile.labels()[r];
    count(counts[at(found)], true, found == is);
    if (found != is) count(counts[at(is)], false, true);
  }
}

template <typename Real>
void count_multi_label(const TileContext<Real>& tile, int split) {
  const MatrixView<const Real> x = tile.input(0);
  const auto labels = target_rows(tile.targets().multi_labels, tile);
  const auto rows = tile.split_rows(split);
  const auto counts = tile.counts(split);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    if (rows[at(r)] == 0) continue;
    for (std::int64_t c = 0; c < x.cols; ++c) count(counts[at(c)], x(r, c) > Real{0}, labels(r, c) != 0);
  }
}

}  // namespace

template <typename Real>
void run(const op::Loss&, const TileContext<Real>& tile) {
  constexpr int kTrain = 0;
  add_loss(tile, kTrain, 1.0 / tile.targets().loss_count(kTrain), tile.output());
}

template <typename Real>
void run(const op::Score&, const TileContext<Real>& tile) {
  const Task task = tile.targets().task;
  if (task == Task::kSingleLabel) kernels::argmax_rows(tile.input(0), tile.predictions());
  for (int split = 0; split < kSplits; ++split) {
    add_loss(tile, split, 0.0, MatrixView<Real>{});
    if (task == Task::kSingleLabel) count_single_label(tile, split);
    if (task == Task::kMultiLabel) count_multi_label(tile, split);
  }
}

template void run(const op::Loss&, const TileContext<float>&);
template void run(const op::Loss&, const TileContext<double>&);
template void run(const op::Score&, const TileContext<float>&);
template void run(const op::Score&, const TileContext<double>&);

}  // namespace halo::nn
