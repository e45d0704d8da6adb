#include "halo/kernels/product.hpp"

#include <algorithm>
#include <cassert>
#include <string>

#include "product_backends.hpp"

namespace halo::kernels {
namespace {

using internal::Transposed;

template <typename Real>
void multiply(Transposed transposed, std::int64_t depth, MatrixView<const Real> x, MatrixView<const Real> w,
              MatrixView<Real> y, bool accumulate) {
  if (y.rows == 0 || y.cols == 0) return;
  if (depth == 0) {
    for (std::int64_t r = 0; r < y.rows && !accumulate; ++r) std::fill_n(y.row(r), y.cols, Real{0});
    return;
  }
#if HALO_HAVE_XSMM
  if (internal::xsmm_product(transposed, x, w, y, accumulate)) return;
#endif
  internal::eigen_product(transposed, x, w, y, accumulate);
}

}  // namespace

template <typename Real>
void product(MatrixView<const Real> x, MatrixView<const Real> w, MatrixView<Real> y, bool accumulate) {
  assert(x.rows == y.rows && x.cols == w.rows && w.cols == y.cols);
  multiply(Transposed::kNone, x.cols, x, w, y, accumulate);
}

template <typename Real>
void product_right_transposed(MatrixView<const Real> dy, MatrixView<const Real> w, MatrixView<Real> dx,
                              bool accumulate) {
  assert(dy.rows == dx.rows && dy.cols == w.cols && w.rows == dx.cols);
  multiply(Transposed::kRight, dy.cols, dy, w, dx, accumulate);
}

template <typename Real>
void product_left_transposed(MatrixView<const Real> x, MatrixView<const Real> dy, MatrixView<Real> dw,
                             bool accumulate) {
  assert(x.rows == dy.rows && x.cols == dw.rows && dy.cols == dw.cols);
  multiply(Transposed::kLeft, x.rows, x, dy, dw, accumulate);
}

const char* product_backend() {
#if HALO_HAVE_XSMM
  static const char* const target = internal::xsmm_target();
  static const std::string name = std::string("libxsmm ") + (target != nullptr ? target : "");
  if (target != nullptr) return name.c_str();
#endif
  return "eigen";
}

#define HALO_INSTANTIATE(Real)                                                                         \
  template void product<Real>(MatrixView<const Real>, MatrixView<const Real>, MatrixView<Real>, bool); \
  template void product_right_transposed<Real>(MatrixView<const Real>, MatrixView<const Real>,         \
                                               MatrixView<Real>, bool);                                \
  template void product_left_transposed<Real>(MatrixView<const Real>, MatrixView<const Real>,          \
                                              MatrixView<Real>, bool)

HALO_INSTANTIATE(float);
HALO_INSTANTIATE(double);
#undef HALO_INSTANTIATE

}  // namespace halo::kernels
