#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "halo/kernels/norms.hpp"
#include "matrices.hpp"

namespace halo::kernels {
namespace {

using test::Matrix;

template <typename Real>
void set_row(Matrix<Real>& x, std::int64_t r, const std::vector<double>& values) {
  for (std::size_t c = 0; c < values.size(); ++c)
    x(r, static_cast<std::int64_t>(c)) = static_cast<Real>(values[c]);
}

}  // namespace

TEST_CASE_TEMPLATE("l2_norm by hand: 3-4-5, a zero row, a huge one", Real, float, double) {
  Matrix<Real> x(3, 2, 3, 1);
  set_row(x, 0, {3.0, -4.0});
  set_row(x, 1, {0.0, 0.0});
  set_row(x, 2, {1e15, 0.0});
  Matrix<Real> y(3, 2);
  l2_norm<Real>(x.view(), y.view());
  CHECK(static_cast<double>(y(0, 0)) == doctest::Approx(0.6));
  CHECK(static_cast<double>(y(0, 1)) == doctest::Approx(-0.8));
  CHECK(y(1, 0) == Real{0});
  CHECK(static_cast<double>(y(2, 0)) == doctest::Approx(1.0));
  Matrix<Real> dy(3, 2);
  for (std::int64_t r = 0; r < 3; ++r) set_row(dy, r, {1.0, 0.0});
  Matrix<Real> dx(3, 2);
  l2_norm_backward<Real>(x.view(), dy.view(), dx.view());
  CHECK(static_cast<double>(dx(0, 0)) == doctest::Approx((1.0 - 0.36) / 5.0));
  CHECK(static_cast<double>(dx(0, 1)) == doctest::Approx(0.48 / 5.0));
  CHECK(dx(1, 0) == Real{0});
  l2_norm_backward<Real>(x.view(), dy.view(), dy.view());
  CHECK(dy(0, 0) == dx(0, 0));
}

TEST_CASE_TEMPLATE("layer_norm by hand: a row of -1, 1 and a constant row", Real, float, double) {
  Matrix<Real> x(2, 2, 1, 3);
  set_row(x, 0, {4.0, 6.0});
  set_row(x, 1, {7.0, 7.0});
  const std::vector<Real> weight = {2, 3};
  const std::vector<Real> bias = {Real(0.5), -1};
  Matrix<Real> y(2, 2);
  layer_norm<Real>(x.view(), weight, bias, 0.0625, y.view());
  const double deviation = std::sqrt(1.0625);
  CHECK(static_cast<double>(y(0, 0)) == doctest::Approx(-2.0 / deviation + 0.5));
  CHECK(static_cast<double>(y(0, 1)) == doctest::Approx(3.0 / deviation - 1.0));
  CHECK(y(1, 0) == Real(0.5));
  CHECK(y(1, 1) == Real{-1});
  Matrix<Real> dy(2, 2);
  dy.fill(Real{1});
  Matrix<Real> dx(2, 2);
  std::vector<Real> weight_gradient(2);
  std::vector<Real> bias_gradient(2);
  layer_norm_backward<Real>(x.view(), weight, 0.0625, dy.view(), dx.view(), weight_gradient, bias_gradient);
  CHECK(bias_gradient == std::vector<Real>{2, 2});
  CHECK(static_cast<double>(weight_gradient[1]) == doctest::Approx(1.0 / deviation));
  CHECK(static_cast<double>(dx(0, 0) + dx(0, 1)) == doctest::Approx(0.0));
}

TEST_CASE("batch norm: sums by hand over all and over active rows, an apply, and its gradient") {
  Matrix<double> x(3, 2);
  set_row(x, 0, {1.0, 5.0});
  set_row(x, 1, {3.0, 5.0});
  set_row(x, 2, {8.0, 5.0});
  std::vector<double> sums(4);
  batch_norm_sums<double>(x.view(), {}, sums);
  CHECK(sums == std::vector<double>{12.0, 15.0, 74.0, 75.0});
  sums.assign(4, 0.0);
  batch_norm_sums<double>(x.view(), std::vector<std::uint8_t>{1, 1, 0}, sums);
  CHECK(sums == std::vector<double>{4.0, 10.0, 10.0, 50.0});
  const std::vector<NormColumn> columns = {{.mean = 2.0, .inverse_deviation = 1.0},
                                           {.mean = 5.0, .inverse_deviation = 100.0}};
  const std::vector<double> weight = {2.0, 4.0};
  const std::vector<double> bias = {1.0, 0.25};
  Matrix<double> y(3, 2);
  batch_norm<double>(x.view(), columns, weight, bias, y.view());
  CHECK(y(0, 0) == -1.0);
  CHECK(y(2, 0) == 13.0);
  CHECK(y(1, 1) == 0.25);  // a constant column
  Matrix<double> dy(3, 2);
  dy.fill(1.0);
  std::vector<double> gradient(4);
  batch_norm_gradient_sums<double>(x.view(), dy.view(), columns, gradient);
  CHECK(gradient == std::vector<double>{3.0, 3.0, 6.0, 0.0});
  Matrix<double> dx(3, 2);
  batch_norm_backward<double>(x.view(), dy.view(), columns, weight, std::vector<double>{1.5, 1.5, 3.0, 0.0},
                              std::vector<std::uint8_t>{1, 1, 0}, dx.view());
  CHECK(dx(0, 0) == 2.0 * (1.0 - 1.5 + 3.0));
  CHECK(dx(2, 0) == 2.0);  // the statistics do not depend on it
}

}  // namespace halo::kernels
