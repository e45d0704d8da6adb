#include "halo/train/feature_scaling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "group_sums.hpp"
#include "halo/base/error.hpp"
#include "halo/kernels/norms.hpp"
#include "halo/kernels/rows.hpp"

namespace halo::train {
namespace {

/// One column over all nodes of all ranks.
struct Column {
  double scale = 1.0;  ///< a power of two that brings every value to [-1, 1]
  bool constant = false;
  double mean = 0.0;               ///< of the values times scale
  double inverse_deviation = 0.0;  ///< of the same

  double deviation_of(float x) const { return static_cast<double>(x) * scale - mean; }
};

/// Collective. Ranges of the columns, no mean yet.
std::vector<Column> column_ranges(const mpi::Communicator& communicator, MatrixView<const float> x) {
  const std::size_t cols = at(x.cols);
  std::vector<double> limits(2 * cols, -std::numeric_limits<double>::infinity());  // [largest | -smallest]
  for (std::int64_t r = 0; r < x.rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) {
      const auto value = static_cast<double>(x.row(r)[c]);
      limits[c] = std::max(limits[c], value);
      limits[cols + c] = std::max(limits[cols + c], -value);
    }
  }
  communicator.max(std::span<double>(limits));
  std::vector<Column> columns(cols);
  for (std::size_t c = 0; c < cols; ++c) {
    int exponent = 0;
    std::frexp(std::max(std::abs(limits[c]), std::abs(limits[cols + c])), &exponent);
    columns[c].scale = std::ldexp(1.0, -exponent);
    columns[c].constant = limits[c] == -limits[cols + c];
  }
  return columns;
}

/// Collective. For each column the sum of term(column, x) over all nodes.
template <typename Term>
std::vector<double> sum_columns(const mpi::Communicator& communicator, const graph::LocalGraph& graph,
                                const std::vector<Column>& columns, MatrixView<const float> x,
                                const Term& term) {
  return sum_over_rows(communicator, graph, x.cols, [&](std::int64_t row, std::span<double> sums) {
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += term(columns[c], x.row(row)[c]);
  });
}

void standardise(const mpi::Communicator& communicator, const graph::LocalGraph& graph, MatrixView<float> x) {
  std::vector<Column> columns = column_ranges(communicator, x);
  const auto nodes = static_cast<double>(graph.global_nodes);
  const auto sums = sum_columns(communicator, graph, columns, x, [](const Column& column, float value) {
    return static_cast<double>(value) * column.scale;
  });
  for (std::size_t c = 0; c < columns.size(); ++c) columns[c].mean = sums[c] / nodes;
  const auto squares = sum_columns(communicator, graph, columns, x, [](const Column& column, float value) {
    const double deviation = column.deviation_of(value);
    return deviation * deviation;
  });
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!columns[c].constant) columns[c].inverse_deviation = 1.0 / std::sqrt(squares[c] / nodes);
  }
  for (std::int64_t r = 0; r < x.rows; ++r) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      float& value = x.row(r)[c];
      value = static_cast<float>(columns[c].deviation_of(value) * columns[c].inverse_deviation);
    }
  }
}

}  // namespace

FeatureScaling choose_scaling(bool rows_l1, bool rows_l2, bool standardise) {
  if (rows_l1 + rows_l2 + standardise > 1) {
    throw InputError({.what = "features can be scaled in one way only",
                      .where = "--row-normalise, --row-normalise-l2, --standardise",
                      .found = "more than one of them",
                      .expected = "one or none",
                      .next = ""});
  }
  if (rows_l1) return FeatureScaling::kRowsL1;
  if (rows_l2) return FeatureScaling::kRowsL2;
  return standardise ? FeatureScaling::kStandardise : FeatureScaling::kNone;
}

void scale_features(const mpi::Communicator& communicator, const graph::LocalGraph& graph,
                    FeatureScaling scaling, MatrixView<float> features) {
  switch (scaling) {
    case FeatureScaling::kNone:
      return;
    case FeatureScaling::kRowsL1:
      kernels::normalise_rows_l1(features);
      return;
    case FeatureScaling::kRowsL2:
      kernels::l2_norm<float>(features, features);
      return;
    case FeatureScaling::kStandardise:
      standardise(communicator, graph, features);
      return;
  }
}

}  // namespace halo::train
