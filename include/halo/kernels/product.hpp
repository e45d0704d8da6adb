#pragma once

#include "halo/base/matrix_view.hpp"

namespace halo::kernels {

// Dense products of one row tile, one thread. The bits of a result depend on the shapes and the values alone.
// LIBXSMM kernels made at run time where it has them, Eigen otherwise; `accumulate` adds to what the output
// holds.

/// y[t x n] (+)= x[t x k] w[k x n]
template <typename Real>
void product(MatrixView<const Real> x, MatrixView<const Real> w, MatrixView<Real> y, bool accumulate);

/// dx[t x k] (+)= dy[t x n] w[k x n]^T
template <typename Real>
void product_right_transposed(MatrixView<const Real> dy, MatrixView<const Real> w, MatrixView<Real> dx,
                              bool accumulate);

/// dw[k x n] (+)= x[t x k]^T dy[t x n]
template <typename Real>
void product_left_transposed(MatrixView<const Real> x, MatrixView<const Real> dy, MatrixView<Real> dw,
                             bool accumulate);

/// What computes the products here ("libxsmm avx512", "eigen"), for logs and benchmarks.
const char* product_backend();

}  // namespace halo::kernels
