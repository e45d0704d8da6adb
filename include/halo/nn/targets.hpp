#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace halo::nn {

/// Training, validation and test rows, in this order everywhere.
inline constexpr int kSplits = 3;

/// What the outputs of the rows are compared with.
enum class Task {
  kSingleLabel,    ///< softmax cross-entropy; one class for each row
  kMultiLabel,     ///< binary cross-entropy; any number of classes for each row
  kSquaredError,   ///< regression, mean squared error
  kAbsoluteError,  ///< regression, mean absolute error
};

/// What the loss and the score compare with.
struct Targets {
  Task task = Task::kSingleLabel;
  std::int64_t cols = 0;                   ///< classes, or columns of a regression
  std::vector<std::int32_t> labels;        ///< owned; single label
  std::vector<std::uint8_t> multi_labels;  ///< [owned x cols] 0 or 1; multi-label
  std::vector<float> values;               ///< [owned x cols]; regression; NaN: unknown, left out
  std::array<std::vector<std::uint8_t>, kSplits>
      rows;  ///< owned; 1: the row belongs to the split and has a label
  /// Over all ranks: rows with a label; in a regression known entries.
  std::array<std::int64_t, kSplits> global_count = {};
  std::vector<double> class_weights;  ///< single label: one for each class; empty: all 1
  /// Over all ranks: sum of the class weights of the rows; what the loss is divided by where there are
  /// weights.
  std::array<double, kSplits> global_weight = {};
  double label_smoothing = 0.0;  ///< single label, 0 <= e < 1: (1 - e) onehot + e / classes

  /// The mean loss of a split divides by this.
  double loss_count(int split) const;
};

/// Counts of one class over the rows of a split.
struct ClassCounts {
  std::int64_t true_positive = 0;
  std::int64_t false_positive = 0;
  std::int64_t false_negative = 0;
};

/// Exact results of one evaluation, the same on every rank.
struct Scores {
  std::array<double, kSplits> loss = {};  ///< mean; NaN for an empty split
  /// Share of the rows whose largest output is the label; NaN for an empty split and unless single label.
  std::array<double, kSplits> accuracy = {};
  std::vector<ClassCounts> counts;                 ///< [kSplits x classes]; not for a regression
  std::array<double, kSplits> squared_error = {};  ///< regression: mean
  std::array<double, kSplits> absolute_error = {};
};

}  // namespace halo::nn
