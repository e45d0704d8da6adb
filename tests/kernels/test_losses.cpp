#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "halo/kernels/losses.hpp"
#include "halo/kernels/rows.hpp"
#include "matrices.hpp"

namespace halo::kernels {
namespace {

using test::Matrix;

const std::vector<std::int32_t> kLabels = {2, 0, 1, 2};
const std::vector<std::uint8_t> kUse = {1, 0, 1, 1};

}  // namespace

TEST_CASE_TEMPLATE("without weights and smoothing the soft cross-entropy is the plain one", Real, float,
                   double) {
  Matrix<Real> x(4, 3, 2, 1);
  x.randomise(3);
  Matrix<Real> plain(4, 3);
  Matrix<Real> soft(4, 3);
  const double a = softmax_cross_entropy<Real>(x.view(), kLabels, kUse, 0.5, plain.view());
  const double b =
      soft_cross_entropy<Real>(x.view(), {.labels = kLabels, .weights = {}}, kUse, 0.5, soft.view());
  CHECK(b == doctest::Approx(a));
  for (std::int64_t r = 0; r < 4; ++r) {
    for (std::int64_t c = 0; c < 3; ++c) {
      CHECK(static_cast<double>(soft(r, c)) ==
            doctest::Approx(static_cast<double>(plain(r, c))).epsilon(1e-5));
    }
  }
}

TEST_CASE("class weights and smoothing by hand: equal outputs have log 3 everywhere") {
  Matrix<double> x(1, 3);
  x.fill(7.0);
  const std::vector<double> weights = {1.0, 2.0, 4.0};
  const std::vector<std::int32_t> label = {1};
  const std::vector<std::uint8_t> use = {1};
  Matrix<double> dx(1, 3);
  const double loss = soft_cross_entropy<double>(
      x.view(), {.labels = label, .weights = weights, .smoothing = 0.3}, use, 1.0, dx.view());
  const double total = 0.7 * 2.0 + 0.1 * 7.0;
  CHECK(loss == doctest::Approx(total * std::log(3.0)));
  CHECK(dx(0, 0) == doctest::Approx(total / 3.0 - 0.1));
  CHECK(dx(0, 1) == doctest::Approx(total / 3.0 - 1.6));
  CHECK(dx(0, 2) == doctest::Approx(total / 3.0 - 0.4));
}

TEST_CASE_TEMPLATE("binary cross-entropy by hand, and outputs of +-200", Real, float, double) {
  Matrix<Real> x(2, 3, 1, 2);
  x.fill(Real{0});
  x(0, 1) = Real{200};
  x(0, 2) = Real{-200};
  const std::vector<std::uint8_t> labels = {1, 0, 1, 1, 1, 1};
  const std::vector<std::uint8_t> use = {1, 0};
  Matrix<Real> dx(2, 3);
  const double loss = binary_cross_entropy<Real>(x.view(), {labels.data(), 2, 3}, use, 2.0, dx.view());
  CHECK(loss == doctest::Approx(std::log(2.0) + 400.0));
  CHECK(static_cast<double>(dx(0, 0)) == doctest::Approx(-1.0));
  CHECK(static_cast<double>(dx(0, 1)) == doctest::Approx(2.0));
  CHECK(static_cast<double>(dx(0, 2)) == doctest::Approx(-2.0));
  CHECK(dx(1, 0) == Real{0});
}

TEST_CASE_TEMPLATE("regression errors by hand; unknown entries and rows of other splits count nothing", Real,
                   float, double) {
  Matrix<Real> x(2, 2);
  x.fill(Real{1});
  const float unknown = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> y = {3.0F, unknown, 5.0F, 5.0F};
  const std::vector<std::uint8_t> use = {1, 0};
  Matrix<Real> dx(2, 2);
  const Errors squared = regression_errors<Real>(x.view(), {y.data(), 2, 2}, use, true, 0.5, dx.view());
  CHECK(squared.squared == 4.0);
  CHECK(squared.absolute == 2.0);
  CHECK(dx(0, 0) == Real{-2});
  CHECK(dx(0, 1) == Real{0});
  CHECK(dx(1, 1) == Real{0});
  regression_errors<Real>(x.view(), {y.data(), 2, 2}, use, false, 0.5, dx.view());
  CHECK(dx(0, 0) == Real(-0.5));
}

}  // namespace halo::kernels
