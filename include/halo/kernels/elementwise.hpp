#pragma once

#include <cstdint>
#include <span>

#include "halo/base/matrix_view.hpp"

namespace halo::kernels {

// Row-local loops on one tile that treat elements one by one. Outputs may be the very memory of an input of
// the same width.

/// y = alpha a + beta b
template <typename Real>
void combine(Real alpha, MatrixView<const Real> a, Real beta, MatrixView<const Real> b, MatrixView<Real> y);
/// y = factor x
template <typename Real>
void scale(Real factor, MatrixView<const Real> x, MatrixView<Real> y);
/// sum over all elements of a b, in double, rows and columns in order
template <typename Real>
double inner_product(MatrixView<const Real> a, MatrixView<const Real> b);

/// y = x where x > 0, else exp(x) - 1   (Clevert et al. 2016, alpha = 1)
template <typename Real>
void elu(MatrixView<const Real> x, MatrixView<Real> y);
/// dx = dy where y > 0, else dy (y + 1)
template <typename Real>
void elu_backward(MatrixView<const Real> y, MatrixView<const Real> dy, MatrixView<Real> dx);
/// y = x where x > 0, else slope x; slope >= 0
template <typename Real>
void leaky_relu(MatrixView<const Real> x, Real slope, MatrixView<Real> y);
/// dx = dy where y > 0, else slope dy
template <typename Real>
void leaky_relu_backward(MatrixView<const Real> y, MatrixView<const Real> dy, Real slope,
                         MatrixView<Real> dx);

/// Copies x into columns [begin, begin + x.cols) of y.
template <typename Real>
void copy_columns_into(MatrixView<const Real> x, std::int64_t begin, MatrixView<Real> y);
/// Copies columns [begin, begin + y.cols) of x.
template <typename Real>
void copy_columns_from(MatrixView<const Real> x, std::int64_t begin, MatrixView<Real> y);

/// y = max(y, x); NaN if one of them is
template <typename Real>
void raise_to(MatrixView<const Real> x, MatrixView<Real> y);
/// dx = 0 where `other` is above x, or equal if `ties_beat`, or one of them is NaN; the rest stays
template <typename Real>
void clear_where_beaten(MatrixView<const Real> x, MatrixView<const Real> other, bool ties_beat,
                        MatrixView<Real> dx);

/// y_rc = mean over heads h of x_r(h cols + c)
template <typename Real>
void head_mean(MatrixView<const Real> x, int heads, MatrixView<Real> y);
/// dx_r(h cols + c) = dy_rc / heads
template <typename Real>
void head_mean_backward(MatrixView<const Real> dy, int heads, MatrixView<Real> dx);

}  // namespace halo::kernels
