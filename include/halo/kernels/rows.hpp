#pragma once

#include <cstdint>
#include <span>

#include "halo/base/counter_rng.hpp"
#include "halo/base/ids.hpp"
#include "halo/base/matrix_view.hpp"

namespace halo::kernels {

// Row-local loops on one tile. Outputs may be the very memory of an input (in place) unless said otherwise.

/// out_r = x[rows[r]]: packs the rows another rank needs.
template <typename Real>
void pack_rows(MatrixView<const Real> x, std::span<const LocalId> rows, MatrixView<Real> out);

/// y_r = scale_r x_r (scale.size() == x.rows)
template <typename Real>
void scale_rows(MatrixView<const Real> x, std::span<const Real> scale, MatrixView<Real> y);

/// y = a + b
template <typename Real>
void add(MatrixView<const Real> a, MatrixView<const Real> b, MatrixView<Real> y);

/// y_rc = x_rc + bias_c
template <typename Real>
void add_bias(MatrixView<const Real> x, std::span<const Real> bias, MatrixView<Real> y);

/// sums_c += sum_r x_rc, rows in order.
template <typename Real>
void column_sums(MatrixView<const Real> x, std::span<Real> sums);

/// y = max(x, 0)
template <typename Real>
void relu(MatrixView<const Real> x, MatrixView<Real> y);
/// dx = dy where y > 0, else 0
template <typename Real>
void relu_backward(MatrixView<const Real> y, MatrixView<const Real> dy, MatrixView<Real> dx);

/// Inverted dropout (Srivastava et al. 2014): y_rc = x_rc / (1 - p) where column_bits(row_key(ids[r]), c) >=
/// p 2^32, else 0. The same call on dy is its backward.
template <typename Real>
void dropout(MatrixView<const Real> x, std::span<const NodeId> ids, const CounterRng& rng, double p,
             MatrixView<Real> y);
/// y = dropout(relu(x)) in one pass.
template <typename Real>
void relu_dropout(MatrixView<const Real> x, std::span<const NodeId> ids, const CounterRng& rng, double p,
                  MatrixView<Real> y);
/// dx = dy / (1 - p) where y > 0, else 0 (y: the output of relu_dropout).
template <typename Real>
void relu_dropout_backward(MatrixView<const Real> y, MatrixView<const Real> dy, double p,
                           MatrixView<Real> dx);

/// Column of the largest value of each row, the lowest on ties.
template <typename Real>
void argmax_rows(MatrixView<const Real> x, std::span<std::int32_t> columns);

/// Divides each row by the sum of its absolute values; zero rows stay zero.
template <typename Real>
void normalise_rows_l1(MatrixView<Real> x);

}  // namespace halo::kernels
