#include "halo/kernels/losses.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace halo::kernels {
namespace {

template <typename Real>
Real* gradient_row(MatrixView<Real> dx, std::int64_t r) {
  return dx.data == nullptr ? nullptr : dx.row(r);
}

/// -log softmax(x)[label] of one row; `exps` (may be x, may be null) receives exp(x_c - max x). With the
/// largest entry subtracted before exp no finite row overflows; the sum runs in double, column by column.
template <typename Real>
double row_loss(const Real* x, std::int64_t cols, std::int64_t label, Real* exps, double* sum) {
  const Real largest = *std::max_element(x, x + cols);
  const double above = static_cast<double>(x[label]) - static_cast<double>(largest);
  *sum = 0.0;
  for (std::int64_t c = 0; c < cols; ++c) {
    const Real e = std::exp(x[c] - largest);
    *sum += static_cast<double>(e);
    if (exps != nullptr) exps[c] = e;
  }
  return std::log(*sum) - above;
}

/// Target weight of column c in a row of class `label`.
double target(const SoftLabels& targets, std::int64_t label, std::int64_t c, std::int64_t cols) {
  const double weight = targets.weights.empty() ? 1.0 : targets.weights[static_cast<std::size_t>(c)];
  const double spread = targets.smoothing / static_cast<double>(cols);
  return weight * (c == label ? 1.0 - targets.smoothing + spread : spread);
}

template <typename Real>
double soft_row(const Real* x, std::int64_t cols, const SoftLabels& targets, std::int64_t label, double scale,
                Real* dx) {
  const auto largest = static_cast<double>(*std::max_element(x, x + cols));
  double sum = 0.0;
  double total = 0.0;
  for (std::int64_t c = 0; c < cols; ++c) {
    sum += std::exp(static_cast<double>(x[c]) - largest);
    total += target(targets, label, c, cols);
  }
  const double log_sum = largest + std::log(sum);
  double loss = 0.0;
  for (std::int64_t c = 0; c < cols; ++c) {
    const double t = target(targets, label, c, cols);
    const double log_p = static_cast<double>(x[c]) - log_sum;
    loss -= t * log_p;
    if (dx != nullptr) dx[c] = static_cast<Real>(scale * (std::exp(log_p) * total - t));
  }
  return loss;
}

}  // namespace

template <typename Real>
double softmax_cross_entropy(MatrixView<const Real> x, std::span<const std::int32_t> labels,
                             std::span<const std::uint8_t> use, double scale, MatrixView<Real> dx) {
  assert(static_cast<std::int64_t>(labels.size()) == x.rows && labels.size() == use.size());
  double loss = 0.0;
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const std::int64_t label = labels[static_cast<std::size_t>(r)];
    Real* const gradient = gradient_row(dx, r);
    if (use[static_cast<std::size_t>(r)] == 0 || label < 0 || label >= x.cols) {
      if (gradient != nullptr) std::fill_n(gradient, x.cols, Real{0});
      continue;
    }
    double sum = 0.0;
    loss += row_loss(x.row(r), x.cols, label, gradient, &sum);
    if (gradient == nullptr) continue;
    const double factor = scale / sum;
    for (std::int64_t c = 0; c < x.cols; ++c) {
      const double value = static_cast<double>(gradient[c]) * factor - (c == label ? scale : 0.0);
      gradient[c] = static_cast<Real>(value);
    }
  }
  return loss;
}

template <typename Real>
double soft_cross_entropy(MatrixView<const Real> x, const SoftLabels& targets,
                          std::span<const std::uint8_t> use, double scale, MatrixView<Real> dx) {
  double loss = 0.0;
  for (std::int64_t r = 0; r < x.rows; ++r) {
    Real* const gradient = gradient_row(dx, r);
    if (use[static_cast<std::size_t>(r)] != 0) {
      loss +=
          soft_row(x.row(r), x.cols, targets, targets.labels[static_cast<std::size_t>(r)], scale, gradient);
    } else if (gradient != nullptr) {
      std::fill_n(gradient, x.cols, Real{0});
    }
  }
  return loss;
}

template <typename Real>
double binary_cross_entropy(MatrixView<const Real> x, MatrixView<const std::uint8_t> y,
                            std::span<const std::uint8_t> use, double scale, MatrixView<Real> dx) {
  double loss = 0.0;
  for (std::int64_t r = 0; r < x.rows; ++r) {
    Real* const gradient = gradient_row(dx, r);
    if (use[static_cast<std::size_t>(r)] == 0) {
      if (gradient != nullptr) std::fill_n(gradient, x.cols, Real{0});
      continue;
    }
    for (std::int64_t c = 0; c < x.cols; ++c) {
      const auto value = static_cast<double>(x(r, c));
      const double is = y(r, c) != 0 ? 1.0 : 0.0;
      const double small = std::exp(-std::abs(value));
      loss += std::max(value, 0.0) - is * value + std::log1p(small);
      const double probability = (value >= 0.0 ? 1.0 : small) / (1.0 + small);
      if (gradient != nullptr) gradient[c] = static_cast<Real>(scale * (probability - is));
    }
  }
  return loss;
}

template <typename Real>
Errors regression_errors(MatrixView<const Real> x, MatrixView<const float> y,
                         std::span<const std::uint8_t> use, bool squared, double scale, MatrixView<Real> dx) {
  Errors errors;
  for (std::int64_t r = 0; r < x.rows; ++r) {
    Real* const gradient = gradient_row(dx, r);
    for (std::int64_t c = 0; c < x.cols; ++c) {
      const bool known = use[static_cast<std::size_t>(r)] != 0 && !std::isnan(y(r, c));
      const double error = known ? static_cast<double>(x(r, c)) - static_cast<double>(y(r, c)) : 0.0;
      errors.squared += error * error;
      errors.absolute += std::abs(error);
      if (gradient == nullptr) continue;
      const double sign = static_cast<double>((error > 0.0) - (error < 0.0));
      gradient[c] = static_cast<Real>(scale * (squared ? 2.0 * error : sign));
    }
  }
  return errors;
}

#define HALO_INSTANTIATE(Real)                                                                          \
  template double softmax_cross_entropy<Real>(MatrixView<const Real>, std::span<const std::int32_t>,    \
                                              std::span<const std::uint8_t>, double, MatrixView<Real>); \
  template double soft_cross_entropy<Real>(MatrixView<const Real>, const SoftLabels&,                   \
                                           std::span<const std::uint8_t>, double, MatrixView<Real>);    \
  template double binary_cross_entropy<Real>(MatrixView<const Real>, MatrixView<const std::uint8_t>,    \
                                             std::span<const std::uint8_t>, double, MatrixView<Real>);  \
  template Errors regression_errors<Real>(MatrixView<const Real>, MatrixView<const float>,              \
                                          std::span<const std::uint8_t>, bool, double, MatrixView<Real>)

HALO_INSTANTIATE(float);
HALO_INSTANTIATE(double);
#undef HALO_INSTANTIATE

}  // namespace halo::kernels
