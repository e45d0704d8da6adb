#include "halo/train/gradient_clipping.hpp"

#include <cmath>

namespace halo::train {
namespace {

constexpr double kBesideNorm = 1e-6;  // keeps the quotient finite for a gradient of zeros

}  // namespace

template <typename Real>
double sum_of_squares(std::span<const Real> gradient) {
  double sum = 0.0;
  for (const Real element : gradient) sum += static_cast<double>(element) * static_cast<double>(element);
  return sum;
}

template <typename Real>
double clip_gradient(std::span<Real> gradient, double squares, double max_norm) {
  const double norm = std::sqrt(squares);
  const double scale = max_norm / (norm + kBesideNorm);
  if (scale < 1.0) {
    for (Real& element : gradient) element *= static_cast<Real>(scale);
  }
  return norm;
}

template double sum_of_squares(std::span<const float>);
template double sum_of_squares(std::span<const double>);
template double clip_gradient(std::span<float>, double, double);
template double clip_gradient(std::span<double>, double, double);

}  // namespace halo::train
