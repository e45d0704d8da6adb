#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "halo/kernels/losses.hpp"
#include "matrices.hpp"

namespace halo::kernels {
namespace {

using test::Matrix;

const std::vector<std::int32_t> kLabels = {2, 0, 1, 2};
const std::vector<std::uint8_t> kUse = {1, 0, 1, 1};

struct Labels {
  std::vector<std::int32_t> label;
  std::vector<std::uint8_t> use;
};

// Straight from the definition, in double.
template <typename Real>
double slow_loss(const Matrix<Real>& x, const Labels& labels, double scale, Matrix<double>& dx) {
  const std::int64_t cols = x.view().cols;
  double loss = 0.0;
  dx.fill(0.0);
  for (std::int64_t r = 0; r < x.view().rows; ++r) {
    const std::int64_t label = labels.label[static_cast<std::size_t>(r)];
    if (labels.use[static_cast<std::size_t>(r)] == 0 || label < 0 || label >= cols) continue;
    double sum = 0.0;
    for (std::int64_t c = 0; c < cols; ++c) sum += std::exp(static_cast<double>(x(r, c)));
    loss += std::log(sum) - static_cast<double>(x(r, label));
    for (std::int64_t c = 0; c < cols; ++c) {
      dx(r, c) = scale * (std::exp(static_cast<double>(x(r, c))) / sum - (c == label ? 1.0 : 0.0));
    }
  }
  return loss;
}

template <typename Real>
void check_close(const Matrix<Real>& dx, const Matrix<double>& expected, double tolerance) {
  for (std::int64_t r = 0; r < dx.view().rows; ++r) {
    for (std::int64_t c = 0; c < dx.view().cols; ++c) {
      CHECK(std::abs(static_cast<double>(dx(r, c)) - expected(r, c)) <= tolerance);
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("cross-entropy: loss and gradient agree with the definition, in place too", Real, float,
                   double) {
  const double tolerance = sizeof(Real) == 4 ? 1e-6 : 1e-14;
  for (const std::int64_t cols : {1, 2, 7, 47}) {
    Matrix<Real> x(9, cols, 2);
    x.randomise(21);
    Labels labels;
    for (std::int32_t r = 0; r < 9; ++r) {
      labels.label.push_back(r == 4   ? -1
                             : r == 5 ? static_cast<std::int32_t>(cols)
                                      : r % static_cast<std::int32_t>(cols));
      labels.use.push_back(r == 6 ? 0 : 1);
    }
    Matrix<double> expected(9, cols);
    const double loss = slow_loss(x, labels, 0.5, expected);
    Matrix<Real> dx(9, cols, 1);
    CHECK(softmax_cross_entropy<Real>(x.view(), labels.label, labels.use, 0.5, dx.view()) ==
          doctest::Approx(loss).epsilon(1e-6));
    check_close(dx, expected, tolerance);
    CHECK(dx.overwritten() == 0);
    const double alone = softmax_cross_entropy<Real>(x.view(), labels.label, labels.use, 0.5, {});
    Matrix<Real> in_place = x;
    CHECK(softmax_cross_entropy<Real>(in_place.view(), labels.label, labels.use, 0.5, in_place.view()) ==
          alone);
    CHECK(test::count_different(in_place, dx) == 0);
    CHECK(in_place.overwritten() == 0);
  }
}

TEST_CASE_TEMPLATE("cross-entropy: by hand", Real, float, double) {
  Matrix<Real> x(2, 2);
  x.fill(0);  // both classes one half
  Matrix<Real> dx(2, 2);
  const double loss = softmax_cross_entropy<Real>(x.view(), std::vector<std::int32_t>{1, 0},
                                                  std::vector<std::uint8_t>{1, 1}, 1.0, dx.view());
  CHECK(loss == doctest::Approx(2.0 * std::log(2.0)));
  CHECK(dx(0, 0) == Real(0.5));
  CHECK(dx(0, 1) == Real(-0.5));
  CHECK(dx(1, 0) == Real(-0.5));
}

TEST_CASE_TEMPLATE("cross-entropy: far from zero nothing overflows", Real, float, double) {
  Matrix<Real> x(2, 3);
  x.fill(0);
  x(0, 0) = Real{30000};
  x(1, 1) = Real{-30000};
  Matrix<Real> dx(2, 3);
  const double loss = softmax_cross_entropy<Real>(x.view(), std::vector<std::int32_t>{1, 1},
                                                  std::vector<std::uint8_t>{1, 1}, 1.0, dx.view());
  CHECK(loss == doctest::Approx(60000.0 + std::log(2.0)));
  CHECK(dx(0, 0) == 1);
  CHECK(dx(0, 1) == -1);
  CHECK(dx(0, 2) == 0);
  CHECK(dx(1, 0) == Real(0.5));
  CHECK(dx(1, 1) == -1);
}

TEST_CASE_TEMPLATE("cross-entropy: NaN anywhere in a used row shows in the loss, elsewhere it does not", Real,
                   float, double) {
  for (std::int64_t c = 0; c < 3; ++c) {
    Matrix<Real> x(2, 3);
    x.randomise(3);
    x(1, c) = std::numeric_limits<Real>::quiet_NaN();
    const std::vector<std::int32_t> labels{0, 0};
    CHECK(
        std::isnan(softmax_cross_entropy<Real>(x.view(), labels, std::vector<std::uint8_t>{1, 1}, 1.0, {})));
    CHECK(std::isfinite(
        softmax_cross_entropy<Real>(x.view(), labels, std::vector<std::uint8_t>{1, 0}, 1.0, {})));
    x(1, c) = std::numeric_limits<Real>::infinity();
    CHECK_FALSE(std::isfinite(
        softmax_cross_entropy<Real>(x.view(), labels, std::vector<std::uint8_t>{1, 1}, 1.0, {})));
  }
}

TEST_CASE("cross-entropy: no rows, no used rows") {
  Matrix<float> x(2, 3);
  x.randomise(1);
  Matrix<float> dx(2, 3);
  CHECK(softmax_cross_entropy<float>(x.view(), std::vector<std::int32_t>{0, 1},
                                     std::vector<std::uint8_t>{0, 0}, 1.0, dx.view()) == 0.0);
  CHECK(dx(1, 2) == 0.0F);
  CHECK(softmax_cross_entropy<float>(MatrixView<const float>(x.view().data, 0, 3), {}, {}, 1.0, {}) == 0.0);
}

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
