#pragma once

#include <cstdint>
#include <span>

#include "halo/base/matrix_view.hpp"

namespace halo::kernels {

// Losses of one tile: sums over the rows with use_r != 0, in double, rows in order, and their gradients times
// `scale`, zero in the other rows. `dx` may be empty (data == nullptr): loss only. Multiply the sum by what
// the mean needs.

/// Softmax cross-entropy: sum_r -log softmax(x_r)[label_r], of rows with 0 <= label_r < cols. dx may be x.
template <typename Real>
double softmax_cross_entropy(MatrixView<const Real> x, std::span<const std::int32_t> labels,
                             std::span<const std::uint8_t> use, double scale, MatrixView<Real> dx);

/// Cross-entropy with class weights and label smoothing: sum_r -sum_c t_rc log softmax(x_r)_c,
///   t_rc = (1 - smoothing) weight_c [c = label_r] + smoothing / cols weight_c
/// (as torch.nn.CrossEntropyLoss; Szegedy et al. 2016, section 7). Empty weights: all 1.
struct SoftLabels {
  std::span<const std::int32_t> labels;
  std::span<const double> weights;
  double smoothing = 0.0;
};
template <typename Real>
double soft_cross_entropy(MatrixView<const Real> x, const SoftLabels& targets,
                          std::span<const std::uint8_t> use, double scale, MatrixView<Real> dx);

/// sum_rc log(1 + exp(x_rc)) - y_rc x_rc for 0/1 targets y: binary cross-entropy of logits.
template <typename Real>
double binary_cross_entropy(MatrixView<const Real> x, MatrixView<const std::uint8_t> y,
                            std::span<const std::uint8_t> use, double scale, MatrixView<Real> dx);

struct Errors {
  double squared = 0.0;
  double absolute = 0.0;
};
/// Sums of (x_rc - y_rc)^2 and |x_rc - y_rc| over entries where y is not NaN; dx is the gradient of the
/// squared or of the absolute error (0 at x = y).
template <typename Real>
Errors regression_errors(MatrixView<const Real> x, MatrixView<const float> y,
                         std::span<const std::uint8_t> use, bool squared, double scale, MatrixView<Real> dx);

}  // namespace halo::kernels
