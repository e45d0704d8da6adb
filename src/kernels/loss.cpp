// Softmax cross-entropy and what belongs to predictions. The largest entry is subtracted before exp, so that
// no finite row overflows; the sums run in double, column by column.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "halo/kernels/rows.hpp"

namespace halo::kernels {
namespace {

// -log softmax(x)[label] of one row; `exps` (may be x, may be null) receives exp(x_c - max x).
template <typename Real>
double row_loss(const Real* x, std::int64_t cols, std::int64_t label, Real* exps, double* sum) {
  const Real largest = *std::max_element(x, x + cols);
  const double above = static_cast<double>(x[label]) - static_cast<double>(largest);
  *sum = 0.0;
  for (std::int64_t c = 0; c < cols; ++c) {
    const Real e = std::exp(x[c] - largest);
    *sum += static_cast<double>(e);
    if (exps != nullptr) exps[c] = e;
  }
  return std::log(*sum) - above;
}

}  // namespace

template <typename Real>
double softmax_cross_entropy(MatrixView<const Real> x, std::span<const std::int32_t> labels,
                             std::span<const std::uint8_t> use, double gradient_scale, MatrixView<Real> dx) {
  assert(static_cast<std::int64_t>(labels.size()) == x.rows && labels.size() == use.size());
  double loss = 0.0;
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const std::int64_t label = labels[static_cast<std::size_t>(r)];
    Real* const gradient = dx.data != nullptr ? dx.row(r) : nullptr;
    if (use[static_cast<std::size_t>(r)] == 0 || label < 0 || label >= x.cols) {
      if (gradient != nullptr) std::fill_n(gradient, x.cols, Real{0});
      continue;
    }
    double sum = 0.0;
    loss += row_loss(x.row(r), x.cols, label, gradient, &sum);
    if (gradient == nullptr) continue;
    const double factor = gradient_scale / sum;
    for (std::int64_t c = 0; c < x.cols; ++c) {
      const double value = static_cast<double>(gradient[c]) * factor - (c == label ? gradient_scale : 0.0);
      gradient[c] = static_cast<Real>(value);
    }
  }
  return loss;
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

template double softmax_cross_entropy<float>(MatrixView<const float>, std::span<const std::int32_t>,
                                             std::span<const std::uint8_t>, double, MatrixView<float>);
template double softmax_cross_entropy<double>(MatrixView<const double>, std::span<const std::int32_t>,
                                              std::span<const std::uint8_t>, double, MatrixView<double>);
template void argmax_rows<float>(MatrixView<const float>, std::span<std::int32_t>);
template void argmax_rows<double>(MatrixView<const double>, std::span<std::int32_t>);

}  // namespace halo::kernels
