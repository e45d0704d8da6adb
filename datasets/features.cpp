#include "halo/datasets/features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "halo/base/error.hpp"

namespace halo::datasets {
namespace {

/// Rows that are read at a time when all are read: about a mebibyte.
std::int64_t rows_at_a_time(std::int64_t cols) {
  return std::max<std::int64_t>(1, (1 << 18) / std::max<std::int64_t>(cols, 1));
}

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& found,
                         const std::string& expected) {
  throw InputError(
      {.what = what, .where = where, .found = found, .expected = expected, .next = "correct the array"});
}

void check_vector(const NpyArray& array, std::int64_t length, const std::string& why) {
  const std::vector<std::int64_t> expected{length};
  if (array.shape() != expected) {
    refuse("the array has the wrong shape", array.name(), format_shape(array.shape()),
           fmt::format("[{}] ({})", length, why));
  }
}

}  // namespace

void FeatureSource::read_rows(std::span<const NodeId> ids, std::span<float> out) const {
  const auto width = static_cast<std::size_t>(cols());
  for (std::size_t begin = 0; begin < ids.size();) {
    std::size_t end = begin + 1;
    while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
    read_rows(RowRange{ids[begin], ids[end - 1] + 1}, out.subspan(begin * width, (end - begin) * width));
    begin = end;
  }
}

DenseFeatures::DenseFeatures(NpyArray array) : array_(std::move(array)) {
  if (array_.shape().size() != 2) {
    refuse("features must be a matrix", array_.name(), format_shape(array_.shape()), "[nodes, features]");
  }
  if (array_.header().fortran_order) held_ = array_.read<float>();
}

void DenseFeatures::read_rows(RowRange rows, std::span<float> out) const {
  if (held_.empty()) return array_.read_rows(rows, out);
  std::copy_n(held_.begin() + rows.begin * cols(), out.size(), out.begin());
}

SparseFeatures::SparseFeatures(const NpyArray& shape, const NpyArray& indptr, NpyArray indices,
                               NpyArray values)
    : indices_(std::move(indices)), values_(std::move(values)) {
  check_vector(shape, 2, "rows and columns");
  const auto lengths = shape.read<std::int64_t>();
  rows_ = lengths[0];
  cols_ = lengths[1];
  if (rows_ < 0 || rows_ == INT64_MAX || cols_ < 0 || cols_ > INT32_MAX) {
    refuse("the shape of the features is out of range", shape.name(), format_shape(lengths),
           "[nodes, features], at most 2^31 - 1 features");
  }
  check_vector(indptr, rows_ + 1, "rows + 1");
  indptr_ = indptr.read<std::int64_t>();
  const auto bad = std::adjacent_find(indptr_.begin(), indptr_.end(), std::greater<>());
  if (indptr_.front() != 0 || bad != indptr_.end()) {
    const auto at = indptr_.front() != 0 ? indptr_.begin() : bad;
    refuse("row starts must begin at 0 and never fall", indptr.name(),
           fmt::format("{} at position {}", *at, at - indptr_.begin()), "0 first, then ascending");
  }
  check_vector(indices_, indptr_.back(), "the last entry of the row starts");
  check_vector(values_, indptr_.back(), "the last entry of the row starts");
}

SparseFeatures::Row SparseFeatures::read_entries(RowRange rows) const {
  const RowRange entries{indptr_[static_cast<std::size_t>(rows.begin)],
                         indptr_[static_cast<std::size_t>(rows.end)]};
  Row row;
  row.columns.resize(static_cast<std::size_t>(entries.size()));
  row.values.resize(static_cast<std::size_t>(entries.size()));
  indices_.read_rows<std::int32_t>(entries, row.columns);
  values_.read_rows<float>(entries, row.values);
  const auto bad = std::find_if(row.columns.begin(), row.columns.end(),
                                [this](std::int32_t column) { return column < 0 || column >= cols_; });
  if (bad != row.columns.end()) {
    refuse("a feature column is out of range",
           fmt::format("{}, position {}", indices_.name(), entries.begin + (bad - row.columns.begin())),
           fmt::format("{}", *bad), fmt::format("0 to {}", cols_ - 1));
  }
  return row;
}

void SparseFeatures::read_rows(RowRange rows, std::span<float> out) const {
  const Row entries = read_entries(rows);
  std::fill(out.begin(), out.end(), 0.0F);
  std::size_t entry = 0;
  const std::int64_t first = indptr_[static_cast<std::size_t>(rows.begin)];
  for (std::int64_t row = rows.begin; row < rows.end; ++row) {
    float* values = out.data() + (row - rows.begin) * cols_;
    const auto end = static_cast<std::size_t>(indptr_[static_cast<std::size_t>(row) + 1] - first);
    for (; entry < end; ++entry) values[entries.columns[entry]] += entries.values[entry];
  }
}

void ComputedFeatures::read_rows(RowRange rows, std::span<float> out) const {
  const auto width = static_cast<std::size_t>(cols_);
  for (std::int64_t row = rows.begin; row < rows.end; ++row) {
    fill_(row, out.subspan(static_cast<std::size_t>(row - rows.begin) * width, width));
  }
}

void check_finite(const FeatureSource& features, const std::string& where) {
  const SparseFeatures* sparse = features.as_sparse();
  const std::int64_t step = rows_at_a_time(features.cols());
  std::vector<float> dense;
  for (std::int64_t begin = 0; begin < features.rows(); begin += step) {
    const RowRange rows{begin, std::min(begin + step, features.rows())};
    SparseFeatures::Row entries;
    if (sparse != nullptr) {
      entries = sparse->read_entries(rows);
    } else {
      dense.resize(static_cast<std::size_t>(rows.size() * features.cols()));
      features.read_rows(rows, dense);
    }
    const std::vector<float>& values = sparse != nullptr ? entries.values : dense;
    const auto bad =
        std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
    if (bad == values.end()) continue;
    const std::int64_t position = bad - values.begin();
    std::int64_t row = begin, column = 0;
    if (sparse != nullptr) {
      const auto starts = sparse->indptr();
      const std::int64_t entry = starts[static_cast<std::size_t>(begin)] + position;
      row = std::upper_bound(starts.begin(), starts.end(), entry) - starts.begin() - 1;
      column = entries.columns[static_cast<std::size_t>(position)];
    } else {
      row += position / features.cols();
      column = position % features.cols();
    }
    refuse("a feature is not a finite number",
           fmt::format("{}, row {}, column {} (from 0)", where, row, column), fmt::format("{}", *bad),
           "finite numbers");
  }
}

}  // namespace halo::datasets
