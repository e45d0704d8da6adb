#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "halo/base/error.hpp"
#include "load_parts.hpp"

namespace halo::datasets {
namespace {

/// Labels as integers: NaN means unknown where the type can say so.
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
                        .next = "correct the array"});
    }
    labels[i] = whole ? static_cast<std::int64_t>(values[i]) : -1;
  }
  return labels;
}

void read_single_labels(const NpyArray& array, const DatasetDeclaration& declared, Dataset& dataset) {
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

void read_multi_labels(const NpyArray& array, const DatasetDeclaration& declared, Dataset& dataset) {
  const std::int64_t classes = array.shape()[1];
  if (classes > std::numeric_limits<std::int32_t>::max() ||
      (declared.num_classes && *declared.num_classes != classes)) {
    throw InputError(
        {.what = "the labels have another number of classes",
         .where = array.name(),
         .found = format_shape(array.shape()),
         .expected = fmt::format("[nodes, {}] as dataset.json says", declared.num_classes.value_or(0)),
         .next = "correct the array, or num_classes in dataset.json"});
  }
  dataset.num_classes = static_cast<std::int32_t>(classes);
  dataset.multi_label = true;
  dataset.multi_labels = array.read<std::uint8_t>();
  const auto bad = std::find_if(dataset.multi_labels.begin(), dataset.multi_labels.end(),
                                [](std::uint8_t value) { return value > 1; });
  if (bad != dataset.multi_labels.end()) {
    const auto position = bad - dataset.multi_labels.begin();
    throw InputError(
        {.what = "a multi-label entry is neither 0 nor 1",
         .where = fmt::format("{}, node {}, class {}", array.name(), position / classes, position % classes),
         .found = fmt::format("{}", *bad),
         .expected = "0 or 1",
         .next = "correct the array"});
  }
}

}  // namespace

void read_labels(const ArrayFolder& arrays, const DatasetDeclaration& declared, Dataset& dataset) {
  const auto array = arrays.find("labels");
  if (!array) return;
  const auto& shape = array->shape();
  if ((shape.size() != 1 && shape.size() != 2) || shape[0] != dataset.num_nodes) {
    throw InputError(
        {.what = "the labels have the wrong shape",
         .where = array->name(),
         .found = format_shape(shape),
         .expected = fmt::format("[{0}], or [{0}, classes] for several labels a node", dataset.num_nodes),
         .next = "write one label, or one row of 0 / 1, for every node"});
  }
  const bool several = shape.size() == 2 && shape[1] != 1;
  if (declared.task && (*declared.task == kMultiLabelClassification) != several) {
    throw InputError({.what = "the labels do not belong to the task that dataset.json names",
                      .where = array->name(),
                      .found = format_shape(shape),
                      .expected = *declared.task,
                      .next = "correct the array, or task in dataset.json"});
  }
  if (several) {
    read_multi_labels(*array, declared, dataset);
  } else {
    read_single_labels(*array, declared, dataset);
  }
}

}  // namespace halo::datasets
