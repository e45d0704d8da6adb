#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "halo/kernels/rows.hpp"
#include "isas.hpp"
#include "matrices.hpp"
#include "row_loops.hpp"

namespace halo::kernels {
namespace {

using test::Matrix;

// Widths and gaps around the vector lengths; padding 0 takes the one-long-row way.
constexpr std::array<std::int64_t, 12> kWidths{1, 2, 3, 7, 8, 15, 16, 17, 31, 47, 64, 100};
constexpr std::int64_t kRows = 5;

template <typename Real>
Real nan() {
  return std::numeric_limits<Real>::quiet_NaN();
}

// Calls run(loops, width, padding) for every instruction set, width and padding.
template <typename Real, typename Test>
void for_all(const Test& run) {
  for (const VectorIsa isa : test::usable_isas()) {
    for (const std::int64_t width : kWidths) {
      for (const std::int64_t padding : {0, 3}) {
        CAPTURE(to_string(isa));
        CAPTURE(width);
        CAPTURE(padding);
        run(internal::row_loops<Real>(isa), width, padding);
      }
    }
  }
}

// y must be op(x, z) element by element, when y is memory of its own and when it is x's.
template <typename Real, typename Loop, typename Op>
void check_elementwise(std::int64_t width, std::int64_t padding, const Loop& loop, const Op& op) {
  Matrix<Real> x(kRows, width, padding, 1);
  Matrix<Real> z(kRows, width, padding, 2);
  x.randomise(1);
  z.randomise(2);
  x(2, width / 2) = nan<Real>();
  x(3, 0) = Real{0};
  Matrix<Real> expected(kRows, width);
  for (std::int64_t r = 0; r < kRows; ++r) {
    for (std::int64_t c = 0; c < width; ++c) expected(r, c) = op(x(r, c), z(r, c), r, c);
  }
  Matrix<Real> y(kRows, width, padding);
  loop(x.view(), z.view(), y.view());
  CHECK(test::count_different(y, expected) == 0);
  CHECK(y.overwritten() == 0);
  loop(x.view(), z.view(), x.view());
  CHECK(test::count_different(x, expected) == 0);
  CHECK(x.overwritten() == 0);
}

TEST_CASE_TEMPLATE("rows: element-wise loops agree with their definition, in place too", Real, float,
                   double) {
  using In = MatrixView<const Real>;
  using Out = MatrixView<Real>;
  using Loops = internal::RowLoops<Real>;
  Matrix<Real> factors(1, 100);
  factors.randomise(3);
  const Real* const per_row = factors.view().data;
  for_all<Real>([&](const Loops& loops, std::int64_t width, std::int64_t padding) {
    check_elementwise<Real>(
        width, padding, [&](In x, In z, Out y) { loops.add(x, z, y); },
        [](Real x, Real z, std::int64_t, std::int64_t) { return x + z; });
    check_elementwise<Real>(
        width, padding, [&](In x, In, Out y) { loops.scale_rows(x, per_row, y); },
        [&](Real x, Real, std::int64_t r, std::int64_t) { return per_row[r] * x; });
    check_elementwise<Real>(
        width, padding, [&](In x, In, Out y) { loops.add_bias(x, per_row, y); },
        [&](Real x, Real, std::int64_t, std::int64_t c) { return x + per_row[c]; });
    check_elementwise<Real>(
        width, padding, [&](In x, In, Out y) { loops.relu(x, y); },
        [](Real x, Real, std::int64_t, std::int64_t) { return std::isnan(x) ? x : std::max(x, Real{0}); });
    check_elementwise<Real>(
        width, padding, [&](In x, In z, Out y) { loops.relu_backward(z, x, Real{2}, y); },
        [](Real x, Real z, std::int64_t, std::int64_t) { return z > 0 ? 2 * x : Real{0}; });
  });
}

TEST_CASE_TEMPLATE("rows: column sums run in the order of rows and add to what is there", Real, float,
                   double) {
  for_all<Real>([](const internal::RowLoops<Real>& loops, std::int64_t width, std::int64_t padding) {
    Matrix<Real> x(40, width, padding);
    x.randomise(4);
    Matrix<Real> sums(1, width);
    Matrix<Real> expected(1, width);
    for (std::int64_t c = 0; c < width; ++c) {
      sums(0, c) = expected(0, c) = Real(0.25);
      for (std::int64_t r = 0; r < 40; ++r) expected(0, c) += x(r, c);
    }
    loops.column_sums(x.view(), sums.view().data);
    CHECK(test::count_different(sums, expected) == 0);
    CHECK(sums.overwritten() == 0);
  });
}

TEST_CASE_TEMPLATE("rows: the public functions by hand", Real, float, double) {
  Matrix<Real> x(2, 3);
  Matrix<Real> y(2, 3);
  for (std::int64_t i = 0; i < 6; ++i) x(i / 3, i % 3) = static_cast<Real>(i - 2);  // -2 -1 0; 1 2 3
  const auto expect = [&](std::array<Real, 6> values) {
    for (std::int64_t i = 0; i < 6; ++i) CHECK(y(i / 3, i % 3) == values[static_cast<std::size_t>(i)]);
  };
  const std::array<Real, 3> three{10, 20, 30};
  const std::array<Real, 2> two{2, -1};
  scale_rows<Real>(x.view(), two, y.view());
  expect({-4, -2, 0, -1, -2, -3});
  add_bias<Real>(x.view(), three, y.view());
  expect({8, 19, 30, 11, 22, 33});
  add<Real>(x.view(), x.view(), y.view());
  expect({-4, -2, 0, 2, 4, 6});
  relu<Real>(x.view(), y.view());
  expect({0, 0, 0, 1, 2, 3});
  relu_backward<Real>(y.view(), x.view(), y.view());
  expect({0, 0, 0, 1, 2, 3});
  std::array<Real, 3> sums{1, 0, 0};
  column_sums<Real>(x.view(), sums);
  CHECK(sums == std::array<Real, 3>{0, 1, 3});
  const std::array<LocalId, 2> rows{1, 1};
  pack_rows<Real>(x.view(), rows, y.view());
  expect({1, 2, 3, 1, 2, 3});
  pack_rows<Real>(x.view(), {}, MatrixView<Real>(y.view().data, 0, 3));
  expect({1, 2, 3, 1, 2, 3});
}

TEST_CASE_TEMPLATE("rows: L1 normalisation", Real, float, double) {
  Matrix<Real> x(4, 3, 2);
  x.fill(0);
  x(0, 0) = Real{1};
  x(0, 2) = Real{-3};
  x(2, 1) = std::numeric_limits<Real>::min();
  x(3, 1) = nan<Real>();
  normalise_rows_l1(x.view());
  CHECK(x(0, 0) == Real(0.25));
  CHECK(x(0, 1) == 0);
  CHECK(x(0, 2) == Real(-0.75));
  CHECK(x(1, 1) == 0);
  CHECK(x(2, 1) == 1);
  CHECK(std::isnan(x(3, 0)));
  CHECK(x.overwritten() == 0);
}

TEST_CASE("rows: no rows") {
  Matrix<float> x(0, 4);
  const std::array<float, 4> bias{1, 2, 3, 4};
  std::array<float, 4> sums{1, 2, 3, 4};
  add<float>(x.view(), x.view(), x.view());
  add_bias<float>(x.view(), bias, x.view());
  scale_rows<float>(x.view(), {}, x.view());
  relu<float>(x.view(), x.view());
  relu_backward<float>(x.view(), x.view(), x.view());
  normalise_rows_l1(x.view());
  column_sums<float>(x.view(), sums);
  CHECK(sums == bias);
  CHECK(x.overwritten() == 0);
}

TEST_CASE_TEMPLATE("argmax: the lowest column on ties", Real, float, double) {
  Matrix<Real> x(4, 3, 2);
  x.fill(-1);
  x(1, 2) = Real{0};
  x(2, 0) = x(2, 2) = Real{5};
  x(3, 1) = x(3, 2) = Real{7};
  std::vector<std::int32_t> columns(4, -1);
  argmax_rows<Real>(x.view(), columns);
  CHECK(columns == std::vector<std::int32_t>{0, 2, 0, 1});
  argmax_rows<Real>(MatrixView<const Real>(x.view().data, 0, 3), {});
}

}  // namespace
}  // namespace halo::kernels
