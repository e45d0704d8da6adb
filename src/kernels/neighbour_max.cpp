#include "halo/kernels/neighbour_max.hpp"

#include <cassert>

#include "neighbour_max_loops.hpp"

namespace halo::kernels {

template <typename Real>
void neighbour_max(const NeighbourEdges& in, MatrixView<const Real> x, MatrixView<Real> y) {
  assert(x.cols == y.cols && in.rows.end <= y.rows);
  internal::neighbour_max_loops<Real>(vector_isa()).largest(in, x, y);
}

template <typename Real>
void neighbour_max_share(const NeighbourEdges& in, MatrixView<const Real> x, MatrixView<const Real> y,
                         MatrixView<const Real> dy, MatrixView<Real> shares) {
  assert(x.cols == y.cols && y.cols == dy.cols && shares.cols == 2 * y.cols && in.rows.end <= y.rows);
  internal::neighbour_max_loops<Real>(vector_isa()).share(in, x, y, dy, shares);
}

template <typename Real>
void neighbour_max_gradient(const NeighbourEdges& out, MatrixView<const Real> shares,
                            MatrixView<const Real> x, MatrixView<Real> dx) {
  assert(x.cols == dx.cols && shares.cols == 2 * x.cols && out.rows.end <= dx.rows);
  internal::neighbour_max_loops<Real>(vector_isa()).gradient(out, shares, x, dx);
}

#define HALO_INSTANTIATE(Real)                                                                               \
  template void neighbour_max<Real>(const NeighbourEdges&, MatrixView<const Real>, MatrixView<Real>);        \
  template void neighbour_max_share<Real>(const NeighbourEdges&, MatrixView<const Real>,                     \
                                          MatrixView<const Real>, MatrixView<const Real>, MatrixView<Real>); \
  template void neighbour_max_gradient<Real>(const NeighbourEdges&, MatrixView<const Real>,                  \
                                             MatrixView<const Real>, MatrixView<Real>)

HALO_INSTANTIATE(float);
HALO_INSTANTIATE(double);
#undef HALO_INSTANTIATE

}  // namespace halo::kernels
