#include "halo/kernels/rows.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "row_loops.hpp"

namespace halo::kernels {
namespace {

template <typename A, typename B>
[[maybe_unused]] bool same_shape(MatrixView<A> a, MatrixView<B> b) {
  return a.rows == b.rows && a.cols == b.cols;
}

template <typename Real>
const internal::RowLoops<Real>& loops() {
  return internal::row_loops<Real>(vector_isa());
}

}  // namespace

template <typename Real>
void pack_rows(MatrixView<const Real> x, std::span<const LocalId> rows, MatrixView<Real> out) {
  assert(static_cast<std::int64_t>(rows.size()) == out.rows && x.cols == out.cols);
  for (std::int64_t r = 0; r < out.rows; ++r) {
    std::copy_n(x.row(rows[static_cast<std::size_t>(r)]), x.cols, out.row(r));
  }
}

template <typename Real>
void scale_rows(MatrixView<const Real> x, std::span<const Real> scale, MatrixView<Real> y) {
  assert(static_cast<std::int64_t>(scale.size()) == x.rows && same_shape(x, y));
  loops<Real>().scale_rows(x, scale.data(), y);
}

template <typename Real>
void add(MatrixView<const Real> a, MatrixView<const Real> b, MatrixView<Real> y) {
  assert(same_shape(a, b) && same_shape(a, y));
  loops<Real>().add(a, b, y);
}

template <typename Real>
void add_bias(MatrixView<const Real> x, std::span<const Real> bias, MatrixView<Real> y) {
  assert(static_cast<std::int64_t>(bias.size()) == x.cols && same_shape(x, y));
  loops<Real>().add_bias(x, bias.data(), y);
}

template <typename Real>
void column_sums(MatrixView<const Real> x, std::span<Real> sums) {
  assert(static_cast<std::int64_t>(sums.size()) == x.cols);
  loops<Real>().column_sums(x, sums.data());
}

template <typename Real>
void relu(MatrixView<const Real> x, MatrixView<Real> y) {
  assert(same_shape(x, y));
  loops<Real>().relu(x, y);
}

template <typename Real>
void relu_backward(MatrixView<const Real> y, MatrixView<const Real> dy, MatrixView<Real> dx) {
  assert(same_shape(y, dy) && same_shape(y, dx));
  loops<Real>().relu_backward(y, dy, Real{1}, dx);
}

template <typename Real>
void argmax_rows(MatrixView<const Real> x, std::span<std::int32_t> columns) {
  assert(static_cast<std::int64_t>(columns.size()) == x.rows);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const Real* const row = x.row(r);
    columns[static_cast<std::size_t>(r)] =
        static_cast<std::int32_t>(std::max_element(row, row + x.cols) - row);
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
  template void argmax_rows<Real>(MatrixView<const Real>, std::span<std::int32_t>);                    \
  template void normalise_rows_l1<Real>(MatrixView<Real>)

HALO_INSTANTIATE(float);
HALO_INSTANTIATE(double);
#undef HALO_INSTANTIATE

}  // namespace halo::kernels
