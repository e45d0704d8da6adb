#include "halo/train/metrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>
#include <span>

#include "halo/base/error.hpp"
#include "halo/train/auc.hpp"

namespace halo::train {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

bool is_regression(nn::Task task) {
  return task == nn::Task::kSquaredError || task == nn::Task::kAbsoluteError;
}

std::vector<std::string> metrics_of(nn::Task task, std::int64_t classes) {
  if (is_regression(task)) return {"mse", "mae"};
  if (task == nn::Task::kMultiLabel) return {"f1_micro", "f1_macro", "roc_auc"};
  if (classes == 2) return {"accuracy", "f1_macro", "roc_auc"};
  return {"accuracy", "f1_macro"};
}

std::int64_t all_cases(const nn::ClassCounts& counts) {
  return 2 * counts.true_positive + counts.false_positive + counts.false_negative;
}

double f1(const nn::ClassCounts& counts) {
  const std::int64_t cases = all_cases(counts);
  if (cases == 0) return 0.0;
  return static_cast<double>(2 * counts.true_positive) / static_cast<double>(cases);
}

double f1_micro(std::span<const nn::ClassCounts> classes) {
  nn::ClassCounts all;
  for (const nn::ClassCounts& counts : classes) {
    all.true_positive += counts.true_positive;
    all.false_positive += counts.false_positive;
    all.false_negative += counts.false_negative;
  }
  return f1(all);
}

double f1_macro(std::span<const nn::ClassCounts> classes, bool only_those_seen) {
  double sum = 0.0;
  std::int64_t count = 0;
  for (const nn::ClassCounts& counts : classes) {
    if (only_those_seen && all_cases(counts) == 0) continue;
    sum += f1(counts);
    ++count;
  }
  return sum / static_cast<double>(count);
}

/// Collective. Single labels of two classes.
double binary_auc(const mpi::Communicator& communicator, const nn::Targets& targets,
                  MatrixView<const float> logits, std::size_t split) {
  std::vector<float> scores;
  std::vector<std::uint8_t> positive;
  for (std::int64_t r = 0; r < logits.rows; ++r) {
    const auto row = static_cast<std::size_t>(r);
    if (targets.rows[split][row] == 0) continue;
    scores.push_back(logits(r, 1) - logits(r, 0));
    positive.push_back(targets.labels[row] == 1 ? 1 : 0);
  }
  return exact_auc(communicator, scores, positive);
}

double value_of(const std::string& name, const mpi::Communicator& communicator, const nn::Targets& targets,
                const nn::Scores& scores, MatrixView<const float> logits, std::size_t split) {
  if (targets.global_count[split] == 0) return kNotANumber;
  if (name == "accuracy") return scores.accuracy[split];
  if (name == "mse") return scores.squared_error[split];
  if (name == "mae") return scores.absolute_error[split];
  const bool multi_label = targets.task == nn::Task::kMultiLabel;
  const std::size_t classes = scores.counts.size() / nn::kSplits;
  const auto counts = std::span(scores.counts).subspan(split * classes, classes);
  if (name == "f1_micro") return f1_micro(counts);
  if (name == "f1_macro") return f1_macro(counts, !multi_label);
  if (!multi_label) return binary_auc(communicator, targets, logits, split);
  return mean_column_auc(communicator, logits, {targets.multi_labels.data(), logits.rows, logits.cols},
                         targets.rows[split]);
}

}  // namespace

std::vector<std::string> default_metrics(nn::Task task) {
  if (task == nn::Task::kSingleLabel) return {"accuracy"};
  auto names = metrics_of(task, 0);
  if (task == nn::Task::kAbsoluteError) std::reverse(names.begin(), names.end());
  return names;
}

void check_metrics(const std::vector<std::string>& names, nn::Task task, std::int64_t classes) {
  const auto known = metrics_of(task, classes);
  const bool all_known = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  });
  const bool each_once = std::set<std::string>(names.begin(), names.end()).size() == names.size();
  if (all_known && each_once && !names.empty()) return;
  throw InputError(
      {.what = each_once ? "not the metrics of this dataset's task" : "a metric is asked for twice",
       .where = "--metric",
       .found = names.empty() ? "none" : fmt::format("{}", fmt::join(names, ",")),
       .expected = fmt::format("some of {}", fmt::join(known, ", ")),
       .next = "leave --metric out for the usual ones"});
}

Scoring score_outputs(const mpi::Communicator& communicator, const nn::Targets& targets,
                      const nn::Scores& scores, MatrixView<const float> logits,
                      const std::vector<std::string>& names) {
  Scoring scoring = {.loss = scores.loss, .metrics = {}};
  for (const std::string& name : names) {
    Metric metric = {.name = name, .higher_is_better = name != "mse" && name != "mae"};
    for (std::size_t split = 0; split < nn::kSplits; ++split) {
      metric.value[split] = value_of(name, communicator, targets, scores, logits, split);
    }
    scoring.metrics.push_back(metric);
  }
  return scoring;
}

}  // namespace halo::train
