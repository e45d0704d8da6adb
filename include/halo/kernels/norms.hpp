#pragma once

#include <cstdint>
#include <span>

#include "halo/base/matrix_view.hpp"

namespace halo::kernels {

// Normalisations of one tile. Sums run in double, rows and columns in order. Outputs may be the very memory
// of an input.

/// Below it a row's length counts as this in l2_norm().
inline constexpr double kSmallestNorm = 1e-12;

/// y_r = x_r / max(|x_r|, kSmallestNorm); a zero row stays zero.
template <typename Real>
void l2_norm(MatrixView<const Real> x, MatrixView<Real> y);
/// dx_r = (dy_r - y_r <y_r, dy_r>) / |x_r|; zero for a zero row, where the function has no derivative.
template <typename Real>
void l2_norm_backward(MatrixView<const Real> x, MatrixView<const Real> dy, MatrixView<Real> dx);

/// y_rc = xhat_rc weight_c + bias_c, xhat_rc = (x_rc - mean_r) / sqrt(variance_r + epsilon)   (Ba et al.
/// 2016)
template <typename Real>
void layer_norm(MatrixView<const Real> x, std::span<const Real> weight, std::span<const Real> bias,
                double epsilon, MatrixView<Real> y);
/// dx; weight_gradient_c += sum_r dy_rc xhat_rc, bias_gradient_c += sum_r dy_rc
template <typename Real>
void layer_norm_backward(MatrixView<const Real> x, std::span<const Real> weight, double epsilon,
                         MatrixView<const Real> dy, MatrixView<Real> dx, std::span<Real> weight_gradient,
                         std::span<Real> bias_gradient);

/// One column of a batch norm (Ioffe, Szegedy 2015): xhat = (x - mean) inverse_deviation.
struct NormColumn {
  double mean = 0.0;
  double inverse_deviation = 1.0;
};

/// sums[c] += sum_r x_rc, sums[cols + c] += sum_r x_rc^2, over rows with active_r != 0 (empty: all).
template <typename Real>
void batch_norm_sums(MatrixView<const Real> x, std::span<const std::uint8_t> active, std::span<double> sums);
/// y_rc = xhat_rc weight_c + bias_c
template <typename Real>
void batch_norm(MatrixView<const Real> x, std::span<const NormColumn> columns, std::span<const Real> weight,
                std::span<const Real> bias, MatrixView<Real> y);
/// sums[c] += sum_r dy_rc, sums[cols + c] += sum_r dy_rc xhat_rc, over all rows: each was normalised.
template <typename Real>
void batch_norm_gradient_sums(MatrixView<const Real> x, MatrixView<const Real> dy,
                              std::span<const NormColumn> columns, std::span<double> sums);
/// dx_rc = weight_c inverse_deviation_c (dy_rc - means[c] - xhat_rc means[cols + c]) for active rows, whose
/// values the statistics depend on; weight_c inverse_deviation_c dy_rc for the others. `means`: the gradient
/// sums divided by the number of active rows.
template <typename Real>
void batch_norm_backward(MatrixView<const Real> x, MatrixView<const Real> dy,
                         std::span<const NormColumn> columns, std::span<const Real> weight,
                         std::span<const double> means, std::span<const std::uint8_t> active,
                         MatrixView<Real> dx);

}  // namespace halo::kernels
