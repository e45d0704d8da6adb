#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "halo/base/error.hpp"
#include "load_parts.hpp"

namespace halo::datasets {
namespace {

/// Classes as integers: NaN means unknown where the type can say so.
std::vector<std::int64_t> read_integers(const NpyArray& array) {
  if (array.header().kind != 'f') return array.read<std::int64_t>();
  std::vector<double> values = array.read<double>();
  std::vector<std::int64_t> labels(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool whole = std::abs(values[i]) < 0x1p53 && std::trunc(values[i]) == values[i];
    if (!whole && !std::isnan(values[i])) {
      throw InputError({.what = "a label is not a whole number",
                        .where = fmt::format("{}, node {}", array.name(), i),
                        .found = fmt::format("{}", values[i]),
                        .expected = "a class number, or NaN or -1 for an unknown label",
                        .next = "correct the array, or task in dataset.json"});
    }
    labels[i] = whole ? static_cast<std::int64_t>(values[i]) : -1;
  }
  return labels;
}

void read_classes(const NpyArray& array, const DatasetDeclaration& declared, Dataset& dataset) {
  const std::vector<std::int64_t> labels = read_integers(array);
  constexpr std::int64_t kMaxClasses = std::numeric_limits<std::int32_t>::max();
  const std::int64_t limit = declared.num_classes ? *declared.num_classes : kMaxClasses;
  dataset.labels.resize(labels.size());
  std::int64_t largest = -1;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < -1 || labels[i] >= limit) {
      throw InputError({.what = "a label is out of range",
                        .where = fmt::format("{}, node {}", array.name(), i),
                        .found = fmt::format("{}", labels[i]),
                        .expected = fmt::format("-1 (unknown) or 0 to {}", limit - 1),
                        .next = "correct the array, or num_classes in dataset.json"});
    }
    dataset.labels[i] = static_cast<std::int32_t>(labels[i]);
    largest = std::max(largest, labels[i]);
  }
  dataset.num_classes = declared.num_classes.value_or(static_cast<std::int32_t>(largest + 1));
}

/// Sets num_classes to the columns of [N, C] or [N].
void set_columns(const NpyArray& array, const DatasetDeclaration& declared, Dataset& dataset) {
  const std::int64_t columns = array.shape().size() == 1 ? 1 : array.shape()[1];
  const bool declared_other = declared.num_classes && *declared.num_classes != columns;
  if (columns < 1 || columns > std::numeric_limits<std::int32_t>::max() || declared_other) {
    throw InputError({.what = "the labels have another number of columns",
                      .where = array.name(),
                      .found = format_shape(array.shape()),
                      .expected = declared.num_classes
                                      ? fmt::format("[nodes, {}] as dataset.json says", *declared.num_classes)
                                      : "at least one column",
                      .next = "correct the array, or num_classes in dataset.json"});
  }
  dataset.num_classes = static_cast<std::int32_t>(columns);
}

void read_multi_labels(const NpyArray& array, Dataset& dataset) {
  dataset.multi_labels = array.read<std::uint8_t>();
  const auto bad = std::find_if(dataset.multi_labels.begin(), dataset.multi_labels.end(),
                                [](std::uint8_t value) { return value > 1; });
  if (bad == dataset.multi_labels.end()) return;
  const auto position = bad - dataset.multi_labels.begin();
  throw InputError({.what = "a multi-label entry is neither 0 nor 1",
                    .where = fmt::format("{}, node {}, class {}", array.name(),
                                         position / dataset.num_classes, position % dataset.num_classes),
                    .found = fmt::format("{}", *bad),
                    .expected = "0 or 1",
                    .next = "correct the array, or task in dataset.json"});
}

void read_values(const NpyArray& array, Dataset& dataset) {
  dataset.values = array.read<float>();
  const auto bad = std::find_if(dataset.values.begin(), dataset.values.end(),
                                [](float value) { return std::isinf(value); });
  if (bad == dataset.values.end()) return;
  const auto position = bad - dataset.values.begin();
  throw InputError({.what = "a target of the regression is infinite",
                    .where = fmt::format("{}, node {}, column {}", array.name(),
                                         position / dataset.num_classes, position % dataset.num_classes),
                    .found = fmt::format("{}", *bad),
                    .expected = "a finite number, or NaN for an unknown one",
                    .next = "correct the array"});
}

/// The task that the type and shape of the labels suggest.
std::string task_of(const NpyArray& array) {
  if (array.header().kind == 'f') {
    spdlog::info(
        "{} holds floats: taken for node regression (classes stored as floats need \"task\": "
        "\"{}\" in dataset.json)",
        array.name(), kNodeClassification);
    return kNodeRegression;
  }
  return array.shape().size() == 2 && array.shape()[1] != 1 ? kMultiLabel : kNodeClassification;
}

void check_shape(const NpyArray& array, const Dataset& dataset) {
  const auto& shape = array.shape();
  if ((shape.size() == 1 || shape.size() == 2) && shape[0] == dataset.num_nodes) return;
  throw InputError({.what = "the labels have the wrong shape",
                    .where = array.name(),
                    .found = format_shape(shape),
                    .expected = fmt::format("[{0}], or [{0}, columns] for several labels or targets a node",
                                            dataset.num_nodes),
                    .next = "write one label, or one row, for every node"});
}

void check_task(const NpyArray& array, const std::string& task) {
  const auto& shape = array.shape();
  const bool fits = task == kNodeRegression ||
                    (task == kMultiLabel ? shape.size() == 2 : shape.size() == 1 || shape[1] == 1);
  if (fits) return;
  throw InputError({.what = "the labels do not belong to the task that dataset.json names",
                    .where = array.name(),
                    .found = format_shape(shape),
                    .expected = task,
                    .next = "correct the array, or task in dataset.json"});
}

}  // namespace

bool Dataset::has_label(NodeId node) const {
  if (task == kMultiLabel) return !multi_labels.empty();
  if (task == kNodeRegression) {
    const auto begin = values.begin() + node * num_classes;
    return !values.empty() && !std::all_of(begin, begin + num_classes, [](float v) { return std::isnan(v); });
  }
  return !labels.empty() && labels[at(node)] >= 0;
}

void read_labels(const ArrayFolder& arrays, const DatasetDeclaration& declared, Dataset& dataset) {
  dataset.task = declared.task.value_or(kNodeClassification);
  if (dataset.task == kLinkPrediction) return;
  const auto array = arrays.find("labels");
  if (!array) return;
  check_shape(*array, dataset);
  if (!declared.task) dataset.task = task_of(*array);
  check_task(*array, dataset.task);
  if (dataset.task == kNodeClassification) return read_classes(*array, declared, dataset);
  set_columns(*array, declared, dataset);
  if (dataset.task == kMultiLabel) {
    read_multi_labels(*array, dataset);
  } else {
    read_values(*array, dataset);
  }
}

}  // namespace halo::datasets
