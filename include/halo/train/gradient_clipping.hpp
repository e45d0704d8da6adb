#pragma once

#include <span>

namespace halo::train {

/// The sum of the squares in double, in the order of the elements: the same bits on every rank that has the
/// same gradient.
template <typename Real>
double sum_of_squares(std::span<const Real> gradient);

/// Scales the gradient by max_norm / (norm + 1e-6) where that is below 1, as torch's clip_grad_norm_ does;
/// norm is the length of the whole gradient, whose squares add up to `squares`. Returns the norm. A gradient
/// that is cut into pieces (sharded ones whose squares were added exactly) is scaled piece by piece with the
/// same `squares`.
template <typename Real>
double clip_gradient(std::span<Real> gradient, double squares, double max_norm);

}  // namespace halo::train
