#include "dropout.hpp"

#include <algorithm>
#include <cassert>

namespace halo::kernels {

template <typename Real>
void internal::dropout_with(VectorIsa isa, bool relu, MatrixView<const Real> x, std::span<const NodeId> ids,
                            const CounterRng& rng, double p, MatrixView<Real> y) {
  assert(p >= 0.0 && p <= 1.0 && static_cast<std::int64_t>(ids.size()) == x.rows);
  assert(x.rows == y.rows && x.cols == y.cols);
  const std::optional<Keep<Real>> keep = keep_of<Real>(p);
  if (!keep) {
    for (std::int64_t r = 0; r < y.rows; ++r) std::fill_n(y.row(r), y.cols, Real{0});
    return;
  }
  const RowLoops<Real>& loops = row_loops<Real>(isa);
  (relu ? loops.relu_dropout : loops.dropout)(x, ids, rng, *keep, y);
}

template <typename Real>
void dropout(MatrixView<const Real> x, std::span<const NodeId> ids, const CounterRng& rng, double p,
             MatrixView<Real> y) {
  internal::dropout_with(vector_isa(), false, x, ids, rng, p, y);
}

template <typename Real>
void relu_dropout(MatrixView<const Real> x, std::span<const NodeId> ids, const CounterRng& rng, double p,
                  MatrixView<Real> y) {
  internal::dropout_with(vector_isa(), true, x, ids, rng, p, y);
}

template <typename Real>
void relu_dropout_backward(MatrixView<const Real> y, MatrixView<const Real> dy, double p,
                           MatrixView<Real> dx) {
  assert(y.rows == dy.rows && y.cols == dy.cols && y.rows == dx.rows && y.cols == dx.cols);
  const std::optional<internal::Keep<Real>> keep = internal::keep_of<Real>(p);
  internal::row_loops<Real>(vector_isa()).relu_backward(y, dy, keep ? keep->scale : Real{0}, dx);
}

#define HALO_INSTANTIATE(Real)                                                                            \
  template void internal::dropout_with<Real>(VectorIsa, bool, MatrixView<const Real>,                     \
                                             std::span<const NodeId>, const CounterRng&, double,          \
                                             MatrixView<Real>);                                           \
  template void dropout<Real>(MatrixView<const Real>, std::span<const NodeId>, const CounterRng&, double, \
                              MatrixView<Real>);                                                          \
  template void relu_dropout<Real>(MatrixView<const Real>, std::span<const NodeId>, const CounterRng&,    \
                                   double, MatrixView<Real>);                                             \
  template void relu_dropout_backward<Real>(MatrixView<const Real>, MatrixView<const Real>, double,       \
                                            MatrixView<Real>)

HALO_INSTANTIATE(float);
HALO_INSTANTIATE(double);
#undef HALO_INSTANTIATE

}  // namespace halo::kernels
