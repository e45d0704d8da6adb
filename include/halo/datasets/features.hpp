#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halo/base/ids.hpp"
#include "halo/datasets/npy_array.hpp"

namespace halo::datasets {

class SparseFeatures;

/// Node features [rows, cols] that are read (or computed) row by row, so that nobody needs to hold them all.
/// Any thread may read.
class FeatureSource {
 public:
  virtual ~FeatureSource() = default;
  virtual std::int64_t rows() const = 0;
  virtual std::int64_t cols() const = 0;
  /// NumPy's name of the stored values.
  virtual std::string dtype() const = 0;
  /// Rows [rows.begin, rows.end), dense, float32, row-major: out is [rows.size(), cols].
  virtual void read_rows(RowRange rows, std::span<float> out) const = 0;
  /// Rows in any order: out is [ids.size(), cols]. Runs of consecutive ids are read in one piece.
  void read_rows(std::span<const NodeId> ids, std::span<float> out) const;
  /// The source itself where it stores compressed sparse rows, otherwise null.
  virtual const SparseFeatures* as_sparse() const { return nullptr; }
};

/// Dense features [N, F]. Fortran order is held in memory as float32 (its rows are scattered over the file),
/// everything else stays in the file.
class DenseFeatures : public FeatureSource {
 public:
  /// InputError if the array is not of shape [N, F].
  explicit DenseFeatures(NpyArray array);

  std::int64_t rows() const override { return array_.shape()[0]; }
  std::int64_t cols() const override { return array_.shape()[1]; }
  std::string dtype() const override { return array_.header().dtype(); }
  using FeatureSource::read_rows;
  void read_rows(RowRange rows, std::span<float> out) const override;

 private:
  NpyArray array_;
  std::vector<float> held_;
};

/// Features as compressed sparse rows: row i holds values[e] at column indices[e] for e in [indptr[i],
/// indptr[i + 1]). Values at the same place add up, as in SciPy. Only indptr is kept in memory.
class SparseFeatures : public FeatureSource {
 public:
  struct Row {
    std::vector<std::int32_t> columns;
    std::vector<float> values;
  };
  /// InputError if the arrays do not fit together. `shape` is [N, F]. Column numbers are checked when they
  /// are read.
  SparseFeatures(const NpyArray& shape, const NpyArray& indptr, NpyArray indices, NpyArray values);

  std::int64_t rows() const override { return rows_; }
  std::int64_t cols() const override { return cols_; }
  std::string dtype() const override { return values_.header().dtype(); }
  using FeatureSource::read_rows;
  void read_rows(RowRange rows, std::span<float> out) const override;
  const SparseFeatures* as_sparse() const override { return this; }

  std::span<const std::int64_t> indptr() const { return indptr_; }
  std::int64_t num_entries() const { return indptr_.back(); }
  /// Entries of a range of rows, one after another. InputError on a column outside [0, cols).
  Row read_entries(RowRange rows) const;

 private:
  std::int64_t rows_ = 0, cols_ = 0;
  std::vector<std::int64_t> indptr_;
  NpyArray indices_, values_;
};

/// Features that a function computes: `fill(row, out)` writes the `cols` values of one row.
class ComputedFeatures : public FeatureSource {
 public:
  using Fill = std::function<void(NodeId, std::span<float>)>;
  ComputedFeatures(std::int64_t rows, std::int64_t cols, Fill fill)
      : rows_(rows), cols_(cols), fill_(std::move(fill)) {}

  std::int64_t rows() const override { return rows_; }
  std::int64_t cols() const override { return cols_; }
  std::string dtype() const override { return "<f4"; }
  using FeatureSource::read_rows;
  void read_rows(RowRange rows, std::span<float> out) const override;

 private:
  std::int64_t rows_, cols_;
  Fill fill_;
};

/// Reads all features once. InputError names the first value that is not finite, by row and column.
void check_finite(const FeatureSource& features, const std::string& where);

}  // namespace halo::datasets
