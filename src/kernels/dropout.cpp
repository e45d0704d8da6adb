#include <cassert>
#include <cmath>

#include "halo/kernels/rows.hpp"

namespace halo::kernels {
namespace {

// Columns whose bits are at least this stay: the smallest integer >= p 2^32 (above every word for p = 1).
std::uint64_t keep_threshold(double p) {
  return static_cast<std::uint64_t>(std::ceil(p * 0x1.0p32));
}

template <typename Real>
Real keep_scale(double p) {
  return p < 1.0 ? static_cast<Real>(1.0 / (1.0 - p)) : Real{0};
}

template <bool kRelu, typename Real>
void dropout_rows(MatrixView<const Real> x, std::span<const NodeId> ids, const CounterRng& rng, double p,
                  MatrixView<Real> y) {
  assert(static_cast<std::int64_t>(ids.size()) == x.rows);
  const std::uint64_t threshold = keep_threshold(p);
  const Real scale = keep_scale<Real>(p);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const std::uint64_t key = rng.row_key(ids[static_cast<std::size_t>(r)]);
    for (std::int64_t c = 0; c < x.cols; ++c) {
      Real value = x(r, c);
      if (kRelu && value <= 0) value = 0;
      const bool keep = CounterRng::column_bits(key, static_cast<std::uint64_t>(c)) >= threshold;
      y(r, c) = keep ? value * scale : Real{0};
    }
  }
}

}  // namespace

template <typename Real>
void dropout(MatrixView<const Real> x, std::span<const NodeId> ids, const CounterRng& rng, double p,
             MatrixView<Real> y) {
  dropout_rows<false>(x, ids, rng, p, y);
}

template <typename Real>
void relu_dropout(MatrixView<const Real> x, std::span<const NodeId> ids, const CounterRng& rng, double p,
                  MatrixView<Real> y) {
  dropout_rows<true>(x, ids, rng, p, y);
}

template <typename Real>
void relu_dropout_backward(MatrixView<const Real> y, MatrixView<const Real> dy, double p,
                           MatrixView<Real> dx) {
  const Real scale = keep_scale<Real>(p);
  for (std::int64_t r = 0; r < y.rows; ++r) {
    for (std::int64_t c = 0; c < y.cols; ++c) dx(r, c) = y(r, c) > 0 ? dy(r, c) * scale : Real{0};
  }
}

template void dropout<float>(MatrixView<const float>, std::span<const NodeId>, const CounterRng&, double,
                             MatrixView<float>);
template void dropout<double>(MatrixView<const double>, std::span<const NodeId>, const CounterRng&, double,
                              MatrixView<double>);
template void relu_dropout<float>(MatrixView<const float>, std::span<const NodeId>, const CounterRng&, double,
                                  MatrixView<float>);
template void relu_dropout<double>(MatrixView<const double>, std::span<const NodeId>, const CounterRng&,
                                   double, MatrixView<double>);
template void relu_dropout_backward<float>(MatrixView<const float>, MatrixView<const float>, double,
                                           MatrixView<float>);
template void relu_dropout_backward<double>(MatrixView<const double>, MatrixView<const double>, double,
                                            MatrixView<double>);

}  // namespace halo::kernels
