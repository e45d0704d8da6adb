#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "halo/kernels/elementwise.hpp"
#include "matrices.hpp"

namespace halo::kernels {
namespace {

using test::Matrix;

/// Few different values, so that there are ties, and NaN.
template <typename Real>
Matrix<Real> coarse(std::uint64_t seed) {
  Matrix<Real> x(6, 9, 1, 2);
  RandomStream random(seed);
  for (std::int64_t r = 0; r < 6; ++r) {
    for (std::int64_t c = 0; c < 9; ++c) {
      const auto drawn = random.below(5);
      x(r, c) = drawn == 4 ? std::numeric_limits<Real>::quiet_NaN() : static_cast<Real>(drawn) - Real{2};
    }
  }
  return x;
}

}  // namespace

TEST_CASE_TEMPLATE("activations and their gradients by hand", Real, float, double) {
  Matrix<Real> x(1, 3, 2, 1);
  x(0, 0) = Real{2};
  x(0, 1) = Real{0};
  x(0, 2) = Real{-1};
  Matrix<Real> y(1, 3);
  Matrix<Real> dy(1, 3);
  dy.fill(Real{10});
  Matrix<Real> dx(1, 3);
  elu<Real>(x.view(), y.view());
  CHECK(y(0, 0) == Real{2});
  CHECK(static_cast<double>(y(0, 2)) == doctest::Approx(std::exp(-1.0) - 1.0));
  elu_backward<Real>(y.view(), dy.view(), dx.view());
  CHECK(dx(0, 0) == Real{10});
  CHECK(static_cast<double>(dx(0, 2)) == doctest::Approx(10.0 * std::exp(-1.0)));
  leaky_relu<Real>(x.view(), Real(0.25), y.view());
  CHECK(y(0, 2) == Real(-0.25));
  leaky_relu_backward<Real>(y.view(), dy.view(), Real(0.25), dx.view());
  CHECK(dx(0, 0) == Real{10});
  CHECK(dx(0, 1) == Real(2.5));
  CHECK(dx(0, 2) == Real(2.5));
}

TEST_CASE("combine, scale, inner product and the largest, also in place") {
  Matrix<double> a(2, 2, 1, 0);
  Matrix<double> b(2, 2, 0, 2);
  a.fill(3.0);
  b.fill(-2.0);
  b(1, 1) = 5.0;
  Matrix<double> y(2, 2);
  combine<double>(2.0, a.view(), 0.5, b.view(), y.view());
  CHECK(y(0, 0) == 5.0);
  CHECK(y(1, 1) == 8.5);
  CHECK(inner_product<double>(a.view(), b.view()) == -3.0);
  scale<double>(-1.0, y.view(), y.view());
  CHECK(y(1, 1) == -8.5);
  raise_to<double>(b.view(), y.view());
  CHECK(y(0, 0) == -2.0);
  CHECK(y(1, 1) == 5.0);
}

TEST_CASE_TEMPLATE("the largest is NaN where one of two is", Real, float, double) {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  Matrix<Real> x(1, 3);
  Matrix<Real> y(1, 3);
  x.fill(Real{1});
  y.fill(Real{2});
  x(0, 0) = nan;
  y(0, 1) = nan;
  raise_to<Real>(x.view(), y.view());
  CHECK(std::isnan(y(0, 0)));
  CHECK(std::isnan(y(0, 1)));
  CHECK(y(0, 2) == Real{2});
}

TEST_CASE_TEMPLATE("a gradient stays where nothing beats the value", Real, float, double) {
  const Matrix<Real> x = coarse<Real>(1);
  const Matrix<Real> other = coarse<Real>(2);
  for (const bool ties_beat : {false, true}) {
    Matrix<Real> dx(6, 9, 2, 1);
    dx.randomise(3);
    Matrix<Real> expected = dx;
    for (std::int64_t r = 0; r < 6; ++r) {
      for (std::int64_t c = 0; c < 9; ++c) {
        const bool wins = x(r, c) > other(r, c) || (x(r, c) == other(r, c) && !ties_beat);
        if (!wins) expected(r, c) = Real{0};
      }
    }
    clear_where_beaten<Real>(x.view(), other.view(), ties_beat, dx.view());
    CHECK(test::count_different(dx, expected) == 0);
    CHECK(dx.overwritten() == 0);
  }
}

TEST_CASE("columns go in and out, heads are averaged") {
  Matrix<double> wide(1, 4);
  for (std::int64_t c = 0; c < 4; ++c) wide(0, c) = static_cast<double>(c);
  Matrix<double> narrow(1, 2);
  copy_columns_from<double>(wide.view(), 1, narrow.view());
  CHECK(narrow(0, 0) == 1.0);
  CHECK(narrow(0, 1) == 2.0);
  copy_columns_into<double>(narrow.view(), 2, wide.view());
  CHECK(wide(0, 1) == 1.0);
  CHECK(wide(0, 3) == 2.0);
  head_mean<double>(wide.view(), 2, narrow.view());  // heads (0, 1) and (1, 2)
  CHECK(narrow(0, 0) == 0.5);
  CHECK(narrow(0, 1) == 1.5);
  head_mean_backward<double>(narrow.view(), 2, wide.view());
  CHECK(wide(0, 0) == 0.25);
  CHECK(wide(0, 3) == 0.75);
}

}  // namespace halo::kernels
