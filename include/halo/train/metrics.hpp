#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "halo/base/matrix_view.hpp"
#include "halo/mpi/communicator.hpp"
#include "halo/nn/targets.hpp"

namespace halo::train {

/// One figure of merit of every split, NaN for a split without rows.
struct Metric {
  std::string name;  ///< "accuracy"; in files behind "train_", "val_" or "test_"
  std::array<double, nn::kSplits> value = {};
  bool higher_is_better = true;
};

/// What one evaluation says, the same bits on every rank.
struct Scoring {
  std::array<double, nn::kSplits> loss = {};
  std::vector<Metric> metrics;  ///< the first is the one that counts
};

/// The metrics of a task where the user names none, the one that counts first: accuracy of single labels;
/// f1_micro, f1_macro and roc_auc of multi-labels; mse and mae of a regression, the one that is its loss
/// first.
std::vector<std::string> default_metrics(nn::Task task);

/// InputError (--metric) unless every name is a metric of the task, `names` is not empty and holds none
/// twice.
///   accuracy  single label: rows whose largest output is the label / rows
///   f1_micro  multi-label: 2 TP / (2 TP + FP + FN), counts summed over classes; 0 where that is 0 / 0
///   f1_macro  mean of the classes' F1, 0 where it is 0 / 0; of single labels without the classes that are
///             neither a label nor a prediction in the split: scikit-learn's, with zero_division = 0
///   roc_auc   single label of two classes: exact_auc of output 1 - output 0; multi-label: mean_column_auc
///   mse, mae  regression: mean squared and mean absolute error of the known entries
void check_metrics(const std::vector<std::string>& names, nn::Task task, std::int64_t classes);

/// Collective where `names` holds roc_auc, else local. The metrics `names` of outputs `logits` [owned x C]
/// and their `scores`. Error where roc_auc meets an output that is not a number.
Scoring score_outputs(const mpi::Communicator& communicator, const nn::Targets& targets,
                      const nn::Scores& scores, MatrixView<const float> logits,
                      const std::vector<std::string>& names);

}  // namespace halo::train
