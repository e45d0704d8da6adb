#include "halo/kernels/norms.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace halo::kernels {
namespace {

template <typename Real>
double dot(const Real* a, const Real* b, std::int64_t cols) {
  double sum = 0.0;
  for (std::int64_t c = 0; c < cols; ++c) sum += static_cast<double>(a[c]) * static_cast<double>(b[c]);
  return sum;
}

/// Mean and inverse deviation of one row.
template <typename Real>
NormColumn row_statistics(const Real* x, std::int64_t cols, double epsilon) {
  double sum = 0.0;
  for (std::int64_t c = 0; c < cols; ++c) sum += static_cast<double>(x[c]);
  const double mean = sum / static_cast<double>(cols);
  double squares = 0.0;
  for (std::int64_t c = 0; c < cols; ++c) {
    const double d = static_cast<double>(x[c]) - mean;
    squares += d * d;
  }
  return {.mean = mean, .inverse_deviation = 1.0 / std::sqrt(squares / static_cast<double>(cols) + epsilon)};
}

template <typename Real>
double normalised(Real x, const NormColumn& by) {
  return (static_cast<double>(x) - by.mean) * by.inverse_deviation;
}

bool is_active(std::span<const std::uint8_t> active, std::int64_t r) {
  return active.empty() || active[static_cast<std::size_t>(r)] != 0;
}

}  // namespace

template <typename Real>
void l2_norm(MatrixView<const Real> x, MatrixView<Real> y) {
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const double length = std::sqrt(dot(x.row(r), x.row(r), x.cols));
    const Real factor = static_cast<Real>(1.0 / std::max(length, kSmallestNorm));
    for (std::int64_t c = 0; c < x.cols; ++c) y(r, c) = x(r, c) * factor;
  }
}

template <typename Real>
void l2_norm_backward(MatrixView<const Real> x, MatrixView<const Real> dy, MatrixView<Real> dx) {
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const double square = dot(x.row(r), x.row(r), x.cols);
    const double length = std::sqrt(square);
    const double factor = length > 0.0 ? 1.0 / std::max(length, kSmallestNorm) : 0.0;
    const double along = length > kSmallestNorm ? dot(x.row(r), dy.row(r), x.cols) / square : 0.0;
    for (std::int64_t c = 0; c < x.cols; ++c) {
      dx(r, c) =
          static_cast<Real>(factor * (static_cast<double>(dy(r, c)) - along * static_cast<double>(x(r, c))));
    }
  }
}

template <typename Real>
void layer_norm(MatrixView<const Real> x, std::span<const Real> weight, std::span<const Real> bias,
                double epsilon, MatrixView<Real> y) {
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const NormColumn row = row_statistics(x.row(r), x.cols, epsilon);
    for (std::int64_t c = 0; c < x.cols; ++c) {
      const auto k = static_cast<std::size_t>(c);
      y(r, c) = static_cast<Real>(normalised(x(r, c), row) * static_cast<double>(weight[k]) +
                                  static_cast<double>(bias[k]));
    }
  }
}

template <typename Real>
void layer_norm_backward(MatrixView<const Real> x, std::span<const Real> weight, double epsilon,
                         MatrixView<const Real> dy, MatrixView<Real> dx, std::span<Real> weight_gradient,
                         std::span<Real> bias_gradient) {
  const auto cols = static_cast<double>(x.cols);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const NormColumn row = row_statistics(x.row(r), x.cols, epsilon);
    double mean = 0.0;
    double along = 0.0;
    for (std::int64_t c = 0; c < x.cols; ++c) {
      const double g =
          static_cast<double>(dy(r, c)) * static_cast<double>(weight[static_cast<std::size_t>(c)]);
      mean += g;
      along += g * normalised(x(r, c), row);
    }
    for (std::int64_t c = 0; c < x.cols; ++c) {
      const auto k = static_cast<std::size_t>(c);
      const double xhat = normalised(x(r, c), row);
      const auto d = static_cast<double>(dy(r, c));
      weight_gradient[k] += static_cast<Real>(d * xhat);
      bias_gradient[k] += dy(r, c);
      dx(r, c) = static_cast<Real>(row.inverse_deviation *
                                   (d * static_cast<double>(weight[k]) - mean / cols - xhat * along / cols));
    }
  }
}

template <typename Real>
void batch_norm_sums(MatrixView<const Real> x, std::span<const std::uint8_t> active, std::span<double> sums) {
  assert(static_cast<std::int64_t>(sums.size()) == 2 * x.cols);
  double* const squares = sums.data() + x.cols;
  for (std::int64_t r = 0; r < x.rows; ++r) {
    if (!is_active(active, r)) continue;
    for (std::int64_t c = 0; c < x.cols; ++c) {
      const auto value = static_cast<double>(x(r, c));
      sums[static_cast<std::size_t>(c)] += value;
      squares[c] += value * value;
    }
  }
}

template <typename Real>
void batch_norm(MatrixView<const Real> x, std::span<const NormColumn> columns, std::span<const Real> weight,
                std::span<const Real> bias, MatrixView<Real> y) {
  for (std::int64_t r = 0; r < x.rows; ++r) {
    for (std::int64_t c = 0; c < x.cols; ++c) {
      const auto k = static_cast<std::size_t>(c);
      y(r, c) = static_cast<Real>(normalised(x(r, c), columns[k]) * static_cast<double>(weight[k]) +
                                  static_cast<double>(bias[k]));
    }
  }
}

template <typename Real>
void batch_norm_gradient_sums(MatrixView<const Real> x, MatrixView<const Real> dy,
                              std::span<const NormColumn> columns, std::span<double> sums) {
  double* const along = sums.data() + x.cols;
  for (std::int64_t r = 0; r < x.rows; ++r) {
    for (std::int64_t c = 0; c < x.cols; ++c) {
      const auto d = static_cast<double>(dy(r, c));
      sums[static_cast<std::size_t>(c)] += d;
      along[c] += d * normalised(x(r, c), columns[static_cast<std::size_t>(c)]);
    }
  }
}

template <typename Real>
void batch_norm_backward(MatrixView<const Real> x, MatrixView<const Real> dy,
                         std::span<const NormColumn> columns, std::span<const Real> weight,
                         std::span<const double> means, std::span<const std::uint8_t> active,
                         MatrixView<Real> dx) {
  const double* const along = means.data() + x.cols;
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const bool counts = is_active(active, r);
    for (std::int64_t c = 0; c < x.cols; ++c) {
      const auto k = static_cast<std::size_t>(c);
      double d = static_cast<double>(dy(r, c));
      if (counts) d -= means[k] + normalised(x(r, c), columns[k]) * along[c];
      dx(r, c) = static_cast<Real>(static_cast<double>(weight[k]) * columns[k].inverse_deviation * d);
    }
  }
}

#define HALO_INSTANTIATE(Real)                                                                               \
  template void l2_norm<Real>(MatrixView<const Real>, MatrixView<Real>);                                     \
  template void l2_norm_backward<Real>(MatrixView<const Real>, MatrixView<const Real>, MatrixView<Real>);    \
  template void layer_norm<Real>(MatrixView<const Real>, std::span<const Real>, std::span<const Real>,       \
                                 double, MatrixView<Real>);                                                  \
  template void layer_norm_backward<Real>(MatrixView<const Real>, std::span<const Real>, double,             \
                                          MatrixView<const Real>, MatrixView<Real>, std::span<Real>,         \
                                          std::span<Real>);                                                  \
  template void batch_norm_sums<Real>(MatrixView<const Real>, std::span<const std::uint8_t>,                 \
                                      std::span<double>);                                                    \
  template void batch_norm<Real>(MatrixView<const Real>, std::span<const NormColumn>, std::span<const Real>, \
                                 std::span<const Real>, MatrixView<Real>);                                   \
  template void batch_norm_gradient_sums<Real>(MatrixView<const Real>, MatrixView<const Real>,               \
                                               std::span<const NormColumn>, std::span<double>);              \
  template void batch_norm_backward<Real>(                                                                   \
      MatrixView<const Real>, MatrixView<const Real>, std::span<const NormColumn>, std::span<const Real>,    \
      std::span<const double>, std::span<const std::uint8_t>, MatrixView<Real>)

HALO_INSTANTIATE(float);
HALO_INSTANTIATE(double);
#undef HALO_INSTANTIATE

}  // namespace halo::kernels
