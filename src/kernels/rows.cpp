#include "halo/kernels/rows.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace halo::kernels {

template <typename Real>
void pack_rows(MatrixView<const Real> x, std::span<const LocalId> rows, MatrixView<Real> out) {
  assert(static_cast<std::int64_t>(rows.size()) == out.rows && x.cols == out.cols);
  for (std::int64_t r = 0; r < out.rows; ++r) {
    std::copy_n(x.row(rows[static_cast<std::size_t>(r)]), x.cols, out.row(r));
  }
}

template <typename Real>
void scale_rows(MatrixView<const Real> x, std::span<const Real> scale, MatrixView<Real> y) {
  assert(static_cast<std::int64_t>(scale.size()) == x.rows);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const Real factor = scale[static_cast<std::size_t>(r)];
    for (std::int64_t c = 0; c < x.cols; ++c) y(r, c) = factor * x(r, c);
  }
}

template <typename Real>
void add(MatrixView<const Real> a, MatrixView<const Real> b, MatrixView<Real> y) {
  for (std::int64_t r = 0; r < a.rows; ++r) {
    for (std::int64_t c = 0; c < a.cols; ++c) y(r, c) = a(r, c) + b(r, c);
  }
}

template <typename Real>
void add_bias(MatrixView<const Real> x, std::span<const Real> bias, MatrixView<Real> y) {
  assert(static_cast<std::int64_t>(bias.size()) == x.cols);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    for (std::int64_t c = 0; c < x.cols; ++c) y(r, c) = x(r, c) + bias[static_cast<std::size_t>(c)];
  }
}

template <typename Real>
void column_sums(MatrixView<const Real> x, std::span<Real> sums) {
  assert(static_cast<std::int64_t>(sums.size()) == x.cols);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    for (std::int64_t c = 0; c < x.cols; ++c) sums[static_cast<std::size_t>(c)] += x(r, c);
  }
}

template <typename Real>
void relu(MatrixView<const Real> x, MatrixView<Real> y) {
  for (std::int64_t r = 0; r < x.rows; ++r) {
    // A NaN is not <= 0 and stays, so that a broken run shows.
    for (std::int64_t c = 0; c < x.cols; ++c) y(r, c) = x(r, c) <= 0 ? Real{0} : x(r, c);
  }
}

template <typename Real>
void relu_backward(MatrixView<const Real> y, MatrixView<const Real> dy, MatrixView<Real> dx) {
  for (std::int64_t r = 0; r < y.rows; ++r) {
    for (std::int64_t c = 0; c < y.cols; ++c) dx(r, c) = y(r, c) > 0 ? dy(r, c) : Real{0};
  }
}

template <typename Real>
void normalise_rows_l1(MatrixView<Real> x) {
  for (std::int64_t r = 0; r < x.rows; ++r) {
    double sum = 0.0;
    for (std::int64_t c = 0; c < x.cols; ++c) sum += std::abs(static_cast<double>(x(r, c)));
    if (sum == 0.0) continue;
    for (std::int64_t c = 0; c < x.cols; ++c) x(r, c) = static_cast<Real>(static_cast<double>(x(r, c)) / sum);
  }
}

#define HALO_INSTANTIATE(Real)                                                                         \
  template void pack_rows<Real>(MatrixView<const Real>, std::span<const LocalId>, MatrixView<Real>);   \
  template void scale_rows<Real>(MatrixView<const Real>, std::span<const Real>, MatrixView<Real>);     \
  template void add<Real>(MatrixView<const Real>, MatrixView<const Real>, MatrixView<Real>);           \
  template void add_bias<Real>(MatrixView<const Real>, std::span<const Real>, MatrixView<Real>);       \
  template void column_sums<Real>(MatrixView<const Real>, std::span<Real>);                            \
  template void relu<Real>(MatrixView<const Real>, MatrixView<Real>);                                  \
  template void relu_backward<Real>(MatrixView<const Real>, MatrixView<const Real>, MatrixView<Real>); \
  template void normalise_rows_l1<Real>(MatrixView<Real>)

HALO_INSTANTIATE(float);
HALO_INSTANTIATE(double);
#undef HALO_INSTANTIATE

}  // namespace halo::kernels
