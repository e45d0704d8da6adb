#include "problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "halo/base/error.hpp"

namespace halo::train {
namespace {

nn::Task task_of(const datasets::PartitionManifest& manifest, const TaskOptions& options) {
  if (manifest.task == datasets::kMultiLabel) return nn::Task::kMultiLabel;
  if (manifest.task != datasets::kNodeRegression) return nn::Task::kSingleLabel;
  return options.regression_loss == "mae" ? nn::Task::kAbsoluteError : nn::Task::kSquaredError;
}

[[noreturn]] void refuse(const char* option, const std::string& found, const std::string& expected) {
  throw InputError({.what = "an option that does not go with the dataset's task",
                    .where = option,
                    .found = found,
                    .expected = expected,
                    .next = fmt::format("leave {} out, or correct it", option)});
}

/// Number of known targets of an owned node.
std::int64_t known_targets(const dist::LocalPartition& partition, const nn::Targets& targets,
                           std::size_t node) {
  if (targets.task == nn::Task::kMultiLabel) return 1;
  if (targets.task == nn::Task::kSingleLabel) return partition.labels[node] >= 0 ? 1 : 0;
  const auto cols = static_cast<std::size_t>(targets.cols);
  const auto row = std::span(partition.values).subspan(node * cols, cols);
  return std::count_if(row.begin(), row.end(), [](float value) { return !std::isnan(value); });
}

void mark_rows(const dist::LocalPartition& partition, nn::Targets& targets) {
  for (auto& rows : targets.rows) rows.assign(partition.split.size(), 0);
  for (std::size_t node = 0; node < partition.split.size(); ++node) {
    if (partition.split[node] == 0) continue;
    const std::int64_t known = known_targets(partition, targets, node);
    if (known == 0) {
      throw InputError(
          {.what = "a node of a split has no label",
           .where = "labels.npy of the partitioned dataset",
           .found = fmt::format("nothing known of original node {}", partition.graph.original_id[node]),
           .expected = "a label for every training, validation and test node",
           .next = "correct labels or splits and partition again"});
    }
    const std::size_t split = partition.split[node] - 1U;
    targets.rows[split][node] = 1;
    targets.global_count[split] += known;
  }
}

std::vector<double> parse_weights(const std::string& text) {
  std::vector<double> weights;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) {
    std::size_t used = 0;
    double weight = -1.0;
    try {
      weight = std::stod(word, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (used != word.size() || !(weight >= 0.0) || !std::isfinite(weight)) {
      refuse("--class-weights", word.empty() ? "an empty entry" : word,
             "none, balanced, or numbers of 0 or more");
    }
    weights.push_back(weight);
  }
  return weights;
}

/// Rows of each class in each split over all ranks, [kSplits x classes].
std::vector<std::int64_t> count_classes(const mpi::Communicator& communicator, const nn::Targets& targets) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(nn::kSplits * targets.cols));
  for (int split = 0; split < nn::kSplits; ++split) {
    const auto& rows = targets.rows[static_cast<std::size_t>(split)];
    for (std::size_t node = 0; node < rows.size(); ++node) {
      if (rows[node] != 0) ++counts[static_cast<std::size_t>(split * targets.cols + targets.labels[node])];
    }
  }
  communicator.sum(std::span<std::int64_t>(counts));
  return counts;
}

void set_class_weights(const mpi::Communicator& communicator, const TaskOptions& options,
                       nn::Targets& targets) {
  if (options.class_weights == "none") return;
  const std::vector<std::int64_t> counts = count_classes(communicator, targets);
  const auto classes = static_cast<std::size_t>(targets.cols);
  communicator.agree([&] {
    if (options.class_weights == "balanced") {
      for (std::size_t c = 0; c < classes; ++c) {
        const double rows = static_cast<double>(targets.global_count[0]);
        const auto of_class = static_cast<double>(counts[c]);
        targets.class_weights.push_back(counts[c] == 0 ? 1.0
                                                       : rows / (static_cast<double>(classes) * of_class));
      }
    } else {
      targets.class_weights = parse_weights(options.class_weights);
      if (targets.class_weights.size() != classes) {
        refuse("--class-weights", fmt::format("{} numbers", targets.class_weights.size()),
               fmt::format("one for each of the {} classes", classes));
      }
    }
    for (std::size_t split = 0; split < nn::kSplits; ++split) {
      for (std::size_t c = 0; c < classes; ++c) {
        targets.global_weight[split] +=
            static_cast<double>(counts[split * classes + c]) * targets.class_weights[c];
      }
    }
    if (!(targets.global_weight[0] > 0.0)) {
      refuse("--class-weights", "no training node of a class that weighs more than 0", "one at least");
    }
  });
}

}  // namespace

void check_task_options(const TaskOptions& options, const std::string& task) {
  if (options.regression_loss != "mse" && options.regression_loss != "mae") {
    refuse("--regression-loss", options.regression_loss, "mse or mae");
  }
  if (options.label_smoothing < 0.0 || options.label_smoothing >= 1.0) {
    refuse("--label-smoothing", fmt::format("{}", options.label_smoothing), "0 <= e < 1");
  }
  const bool single = task == datasets::kNodeClassification;
  if (!single && options.class_weights != "none") {
    refuse("--class-weights", "a dataset of task " + task, datasets::kNodeClassification);
  }
  if (!single && options.label_smoothing != 0.0) {
    refuse("--label-smoothing", "a dataset of task " + task, datasets::kNodeClassification);
  }
  if (task != datasets::kNodeRegression && options.regression_loss != "mse") {
    refuse("--regression-loss", "a dataset of task " + task, datasets::kNodeRegression);
  }
  const TaskOptions usual{};
  if (task != datasets::kLinkPrediction && options.negatives != usual.negatives) {
    refuse("--negatives", "a dataset of task " + task, datasets::kLinkPrediction);
  }
  if (task != datasets::kLinkPrediction && options.hits_k != usual.hits_k) {
    refuse("--hits-k", "a dataset of task " + task, datasets::kLinkPrediction);
  }
}

nn::Targets make_targets(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
                         const TaskOptions& options) {
  nn::Targets targets;
  targets.task = task_of(partition.manifest, options);
  targets.cols = partition.manifest.num_classes;
  targets.label_smoothing = options.label_smoothing;
  communicator.agree([&] { check_task_options(options, partition.manifest.task); });
  if (partition.manifest.task == datasets::kLinkPrediction) return targets;
  targets.labels = partition.labels;
  targets.multi_labels = partition.multi_labels;
  targets.values = partition.values;
  communicator.agree([&] { mark_rows(partition, targets); });
  communicator.sum(std::span<std::int64_t>(targets.global_count));
  communicator.agree([&] {
    if (targets.global_count[0] > 0) return;
    throw InputError({.what = "there is nothing to train on",
                      .where = "split.npy of the partitioned dataset",
                      .found = "no training node",
                      .expected = "at least one",
                      .next = "give the dataset a train_idx.npy and partition again"});
  });
  set_class_weights(communicator, options, targets);
  return targets;
}

nn::Program make_program(const datasets::PartitionManifest& manifest, const TrainOptions& options) {
  const bool links = manifest.task == datasets::kLinkPrediction;
  if (links && options.task.inductive) {
    throw InputError({.what = "inductive training needs training nodes",
                      .where = "--inductive",
                      .found = "a dataset of task link_prediction",
                      .expected = "a task of nodes",
                      .next = "leave --inductive out"});
  }
  if (!links && options.model.decoder != nn::ModelOptions{}.decoder) {
    throw InputError({.what = "a decoder scores pairs of nodes",
                      .where = "--decoder",
                      .found = "a dataset of task " + manifest.task,
                      .expected = datasets::kLinkPrediction,
                      .next = "leave --decoder out"});
  }
  nn::ModelOptions model = options.model;
  model.encoder = links;
  return nn::build_model(model, manifest.feature_cols, manifest.num_classes);
}

}  // namespace halo::train
