#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "halo/base/counter_rng.hpp"
#include "halo/base/matrix_view.hpp"

namespace halo::test {

/// A matrix in memory with room around it: `padding` elements between rows and `offset` elements in front, so
/// that rows start anywhere. All that is not the matrix holds NaN, which a kernel that reads it spreads and
/// one that writes it loses.
template <typename Real>
class Matrix {
 public:
  Matrix(std::int64_t rows, std::int64_t cols, std::int64_t padding = 0, std::int64_t offset = 0)
      : rows_(rows), cols_(cols), stride_(cols + padding), offset_(offset) {
    data_.assign(static_cast<std::size_t>(offset + rows * stride_ + 1),
                 std::numeric_limits<Real>::quiet_NaN());
  }
  MatrixView<Real> view() { return {data_.data() + offset_, rows_, cols_, stride_}; }
  MatrixView<const Real> view() const { return {data_.data() + offset_, rows_, cols_, stride_}; }
  Real& operator()(std::int64_t r, std::int64_t c) { return view()(r, c); }
  Real operator()(std::int64_t r, std::int64_t c) const { return view()(r, c); }

  /// Uniform in [-1, 1).
  Matrix& randomise(std::uint64_t seed) {
    RandomStream random(seed);
    for (std::int64_t r = 0; r < rows_; ++r) {
      for (std::int64_t c = 0; c < cols_; ++c) view()(r, c) = static_cast<Real>(2.0 * random.uniform() - 1.0);
    }
    return *this;
  }
  Matrix& fill(Real value) {
    for (std::int64_t r = 0; r < rows_; ++r) {
      for (std::int64_t c = 0; c < cols_; ++c) view()(r, c) = value;
    }
    return *this;
  }
  /// Elements outside the matrix that are no longer NaN.
  int overwritten() const {
    Matrix copy = *this;
    copy.fill(std::numeric_limits<Real>::quiet_NaN());
    int count = 0;
    for (const Real value : copy.data_) count += std::isnan(value) ? 0 : 1;
    return count;
  }

 private:
  std::int64_t rows_, cols_, stride_, offset_;
  std::vector<Real> data_;
};

template <typename Real>
bool same_bits(Real a, Real b) {
  using Word = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<Word>(a) == std::bit_cast<Word>(b);
}

/// Elements that differ in any bit; two NaN count as equal whatever their payload.
template <typename A, typename B>
int count_different(const A& a, const B& b) {
  int count = 0;
  const auto left = a.view();
  const auto right = b.view();
  for (std::int64_t r = 0; r < left.rows; ++r) {
    for (std::int64_t c = 0; c < left.cols; ++c) {
      const bool both_nan = std::isnan(left(r, c)) && std::isnan(right(r, c));
      count += both_nan || same_bits(left(r, c), right(r, c)) ? 0 : 1;
    }
  }
  return count;
}

}  // namespace halo::test
