#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "halo/base/cpu.hpp"
#include "halo/kernels/product.hpp"
#include "matrices.hpp"
#include "product_backends.hpp"

namespace halo::kernels {
namespace {

using internal::Transposed;
using test::Matrix;

constexpr std::array kForms{Transposed::kNone, Transposed::kRight, Transposed::kLeft};

// y[rows x cols] = sum over depth; the operands as stored.
template <typename Real>
struct Problem {
  Transposed form;
  std::int64_t rows, cols, depth;
  Matrix<Real> x, w;

  Problem(Transposed form_, std::int64_t rows_, std::int64_t cols_, std::int64_t depth_,
          std::int64_t padding = 0, std::int64_t offset = 0)
      : form(form_),
        rows(rows_),
        cols(cols_),
        depth(depth_),
        x(form == Transposed::kLeft ? depth : rows, form == Transposed::kLeft ? rows : depth, padding,
          offset),
        w(form == Transposed::kRight ? cols : depth, form == Transposed::kRight ? depth : cols, padding,
          offset) {
    x.randomise(11);
    w.randomise(12);
  }
  double left(std::int64_t r, std::int64_t k) const {
    return static_cast<double>(form == Transposed::kLeft ? x(k, r) : x(r, k));
  }
  double right(std::int64_t k, std::int64_t c) const {
    return static_cast<double>(form == Transposed::kRight ? w(c, k) : w(k, c));
  }
  void run(Matrix<Real>& y, bool accumulate) const {
    if (form == Transposed::kNone) product(x.view(), w.view(), y.view(), accumulate);
    if (form == Transposed::kRight) product_right_transposed(x.view(), w.view(), y.view(), accumulate);
    if (form == Transposed::kLeft) product_left_transposed(x.view(), w.view(), y.view(), accumulate);
  }
  // Elements of y further from start + the exact product than rounding explains.
  int count_wrong(const Matrix<Real>& y, double start) const {
    int wrong = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) {
        double sum = start;
        double magnitude = std::abs(start);
        for (std::int64_t k = 0; k < depth; ++k) {
          sum += left(r, k) * right(k, c);
          magnitude += std::abs(left(r, k) * right(k, c));
        }
        const double bound = 0.5 * static_cast<double>(depth + 2) * magnitude *
                             static_cast<double>(std::numeric_limits<Real>::epsilon());
        wrong += std::abs(static_cast<double>(y(r, c)) - sum) <= bound ? 0 : 1;
      }
    }
    return wrong;
  }
};

template <typename Real>
void check(const Problem<Real>& problem, std::int64_t padding) {
  CAPTURE(static_cast<int>(problem.form));
  CAPTURE(problem.rows);
  CAPTURE(problem.cols);
  CAPTURE(problem.depth);
  const auto verify = [&](const auto& multiply) {
    Matrix<Real> y(problem.rows, problem.cols, padding);  // NaN: must not be read
    multiply(y, false);
    CHECK(problem.count_wrong(y, 0.0) == 0);
    CHECK(y.overwritten() == 0);
    y.fill(Real{3});
    multiply(y, true);
    CHECK(problem.count_wrong(y, 3.0) == 0);
    CHECK(y.overwritten() == 0);
  };
  verify([&](Matrix<Real>& y, bool accumulate) { problem.run(y, accumulate); });
  verify([&](Matrix<Real>& y, bool accumulate) {
    internal::eigen_product(problem.form, problem.x.view(), problem.w.view(), y.view(), accumulate);
  });
}

TEST_CASE_TEMPLATE("product: two by two by hand", Real, float, double) {
  Matrix<Real> x(2, 2);
  Matrix<Real> w(2, 2);
  for (std::int64_t i = 0; i < 4; ++i) {
    x(i / 2, i % 2) = static_cast<Real>(i + 1);  // 1 2; 3 4
    w(i / 2, i % 2) = static_cast<Real>(i + 5);  // 5 6; 7 8
  }
  const auto expect = [](const Matrix<Real>& y, std::array<Real, 4> values) {
    for (std::int64_t i = 0; i < 4; ++i) CHECK(y(i / 2, i % 2) == values[static_cast<std::size_t>(i)]);
  };
  Matrix<Real> y(2, 2);
  product<Real>(x.view(), w.view(), y.view(), false);
  expect(y, {19, 22, 43, 50});
  product_right_transposed<Real>(x.view(), w.view(), y.view(), false);
  expect(y, {17, 23, 39, 53});
  product_left_transposed<Real>(x.view(), w.view(), y.view(), false);
  expect(y, {26, 30, 38, 44});
  product<Real>(x.view(), w.view(), y.view(), true);
  expect(y, {45, 52, 81, 94});
}

TEST_CASE_TEMPLATE("product: odd shapes agree with the triple loop", Real, float, double) {
  RandomStream random(9);
  for (int round = 0; round < 60; ++round) {
    const auto draw = [&] { return static_cast<std::int64_t>(random.below(70)) + 1; };
    const auto rows = draw();
    const auto cols = draw();
    const auto depth = draw();
    const std::int64_t padding = round % 4;
    for (const Transposed form : kForms)
      check(Problem<Real>(form, rows, cols, depth, padding, round % 3), padding);
  }
}

TEST_CASE_TEMPLATE("product: every small shape", Real, float, double) {
  for (std::int64_t size = 0; size < 5 * 5 * 5; ++size) {
    for (const Transposed form : kForms)
      check(Problem<Real>(form, size % 5 + 1, size / 5 % 5 + 1, size / 25 + 1), 0);
  }
}

TEST_CASE_TEMPLATE("product: long sums, wide rows and many rows", Real, float, double) {
  for (const auto [rows, cols, depth] : {std::array<std::int64_t, 3>{5, 16, 1433},
                                         {3, 7, 1500},
                                         {1433, 16, 3},
                                         {2, 600, 500},
                                         {192, 47, 9},
                                         {193, 17, 33},
                                         {400, 1, 20},
                                         {20, 256, 192},
                                         {9, 47, 193},
                                         {11, 7, 577}}) {
    for (const Transposed form : kForms) check(Problem<Real>(form, rows, cols, depth, 3), 5);
  }
}

TEST_CASE_TEMPLATE("product: an empty dimension", Real, float, double) {
  for (const Transposed form : kForms) {
    for (const bool accumulate : {false, true}) {
      Matrix<Real> y(3, 4, 1);
      y.fill(Real{2});
      Problem<Real>(form, 3, 4, 0).run(y, accumulate);  // an empty sum
      CHECK(y(2, 3) == (accumulate ? Real{2} : Real{0}));
      CHECK(y.overwritten() == 0);
      Matrix<Real> no_rows(0, 4);
      Problem<Real>(form, 0, 4, 5).run(no_rows, accumulate);
      CHECK(no_rows.overwritten() == 0);
      Matrix<Real> no_cols(3, 0);
      Problem<Real>(form, 3, 0, 5).run(no_cols, accumulate);
      CHECK(no_cols.overwritten() == 0);
    }
  }
}

TEST_CASE_TEMPLATE("product: the bits do not depend on alignment, strides or threads", Real, float, double) {
  for (const auto [rows, cols, depth] : {std::array<std::int64_t, 3>{5, 16, 300},
                                         {37, 47, 100},
                                         {1, 1, 77},
                                         {8, 1, 50},
                                         {3, 4, 5},
                                         {64, 7, 16},
                                         {200, 33, 65}}) {
    for (const Transposed form : kForms) {
      CAPTURE(rows);
      CAPTURE(static_cast<int>(form));
      const Problem<Real> first(form, rows, cols, depth);
      Matrix<Real> expected(rows, cols);
      first.run(expected, false);
      Matrix<Real> expected_eigen(rows, cols);
      internal::eigen_product(form, first.x.view(), first.w.view(), expected_eigen.view(), false);
      std::vector<int> different(4, -1);
      std::vector<std::thread> threads;
      for (std::int64_t shift = 0; shift < 4; ++shift) {
        threads.emplace_back([&, shift] {
          const Problem<Real> moved(form, rows, cols, depth, 2 * shift, shift);
          Matrix<Real> y(rows, cols, shift, shift);
          moved.run(y, false);
          int& count = different[static_cast<std::size_t>(shift)];
          count = test::count_different(y, expected);
          internal::eigen_product(form, moved.x.view(), moved.w.view(), y.view(), false);
          count += test::count_different(y, expected_eigen);
        });
      }
      for (std::thread& thread : threads) thread.join();
      CHECK(different == std::vector<int>(4, 0));
    }
  }
}

TEST_CASE_TEMPLATE("product: a NaN reaches its row and column alone", Real, float, double) {
  Problem<Real> problem(Transposed::kNone, 6, 20, 9);
  problem.x(2, 3) = std::numeric_limits<Real>::quiet_NaN();
  Matrix<Real> y(6, 20);
  problem.run(y, false);
  for (std::int64_t r = 0; r < 6; ++r) {
    for (std::int64_t c = 0; c < 20; ++c) CHECK(std::isnan(y(r, c)) == (r == 2));
  }
}

TEST_CASE("product: the backend says what it is") {
  const std::string name = product_backend();
  const bool known = name == "eigen" || name == std::string("libxsmm ") + to_string(vector_isa());
  CHECK(known);
  if (vector_isa() == VectorIsa::kPortable) CHECK(name == "eigen");
}

}  // namespace
}  // namespace halo::kernels
