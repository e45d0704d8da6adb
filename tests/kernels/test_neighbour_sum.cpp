#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "halo/kernels/half_rows.hpp"
#include "halo/kernels/neighbour_sum.hpp"
#include "isas.hpp"
#include "matrices.hpp"
#include "neighbour_sum_isa.hpp"

namespace halo::kernels {
namespace {

using test::Matrix;

// 12 owned rows of degrees 0, 1, 2, ..., one of 300, over 40 columns of x (28 halo rows).
struct Rows {
  std::vector<EdgeId> indptr{0};
  std::vector<LocalId> columns;
  std::vector<float> weights;
  static constexpr std::int64_t kOwned = 12;
  static constexpr std::int64_t kAll = 40;

  Rows() {
    RandomStream random(5);
    for (std::int64_t row = 0; row < kOwned; ++row) {
      const std::int64_t degree = row == 7 ? 300 : row / 2 * row;
      for (std::int64_t e = 0; e < degree; ++e) {
        columns.push_back(static_cast<LocalId>(random.below(kAll)));
        weights.push_back(static_cast<float>(random.uniform() - 0.3));
      }
      indptr.push_back(static_cast<EdgeId>(columns.size()));
    }
  }
};

template <typename Real>
struct Case {
  Rows rows;
  Matrix<Real> x, packed, self, scale;

  Case(std::int64_t width, std::int64_t padding, std::int64_t offset)
      : x(Rows::kAll, width, padding, offset),
        packed(Rows::kAll, half_cols(width), padding, offset),
        self(1, Rows::kOwned),
        scale(1, Rows::kOwned) {
    x.randomise(1);
    pack_half<Real>(x.view(), packed.view());
    self.randomise(2);
    scale.randomise(3);
  }
  NeighbourSum<Real> sum(Matrix<Real>& y, bool weighted, bool loops, bool scaled) {
    NeighbourSum<Real> sum;
    sum.indptr = rows.indptr.data();
    sum.columns = rows.columns.data();
    sum.weights = weighted ? rows.weights.data() : nullptr;
    sum.self = loops ? self.view().data : nullptr;
    sum.scale = scaled ? scale.view().data : nullptr;
    sum.x = x.view();
    sum.y = y.view();
    sum.rows = {0, Rows::kOwned};
    return sum;
  }
};

template <typename Real>
void compare_with_reference(std::int64_t width, std::int64_t padding, std::int64_t offset) {
  Case<Real> problem(width, padding, offset);
  for (int options = 0; options < 8; ++options) {
    const auto sum = [&](Matrix<Real>& y) {
      return problem.sum(y, (options & 1) != 0, (options & 2) != 0, (options & 4) != 0);
    };
    Matrix<Real> expected(Rows::kOwned, width);
    neighbour_sum_reference(sum(expected));
    for (const VectorIsa isa : test::usable_isas()) {
      Matrix<Real> y(Rows::kOwned, width, padding, offset);
      internal::neighbour_sum_with(isa, sum(y));
      CAPTURE(width);
      CAPTURE(options);
      CAPTURE(to_string(isa));
      CHECK(test::count_different(y, expected) == 0);
      CHECK(y.overwritten() == 0);
    }
  }
}

/// Rows of half width give what the same rounded rows of whole width give.
template <typename Real>
void compare_half_with_whole(std::int64_t width, std::int64_t padding, std::int64_t offset) {
  Case<Real> problem(width, padding, offset);
  unpack_half<Real>(problem.packed.view(), problem.x.view());
  for (int options = 0; options < 8; ++options) {
    const auto sum = [&](Matrix<Real>& y) {
      return problem.sum(y, (options & 1) != 0, (options & 2) != 0, (options & 4) != 0);
    };
    Matrix<Real> expected(Rows::kOwned, width);
    neighbour_sum_reference(sum(expected));
    const auto half_sum = [&](Matrix<Real>& y) {
      NeighbourSum<Real> half = sum(y);
      half.x = problem.packed.view();
      half.half = true;
      return half;
    };
    Matrix<Real> plain(Rows::kOwned, width);
    neighbour_sum_reference(half_sum(plain));
    CHECK(test::count_different(plain, expected) == 0);
    for (const VectorIsa isa : test::usable_isas()) {
      Matrix<Real> y(Rows::kOwned, width, padding, offset);
      internal::neighbour_sum_with(isa, half_sum(y));
      CAPTURE(width);
      CAPTURE(options);
      CAPTURE(to_string(isa));
      CHECK(test::count_different(y, expected) == 0);
      CHECK(y.overwritten() == 0);
    }
  }
}

TEST_CASE_TEMPLATE("neighbour sum: three rows by hand", Real, float, double) {
  // Row 0 <- {1, 2}, row 1 <- {}, row 2 <- {0, 0}.
  const std::array<EdgeId, 4> indptr{0, 2, 2, 4};
  const std::array<LocalId, 4> columns{1, 2, 0, 0};
  const std::array<Real, 3> self{1, 2, 0};
  const std::array<Real, 3> scale{Real(0.5), 1, 2};
  Matrix<Real> x(3, 2);
  for (std::int64_t r = 0; r < 3; ++r) {
    x(r, 0) = static_cast<Real>(r + 1);
    x(r, 1) = static_cast<Real>(-10 * r);
  }
  Matrix<Real> y(3, 2);
  NeighbourSum<Real> sum;
  sum.indptr = indptr.data();
  sum.columns = columns.data();
  sum.x = x.view();
  sum.y = y.view();
  sum.rows = {0, 3};
  neighbour_sum(sum);
  CHECK(y(0, 0) == 5);
  CHECK(y(0, 1) == -30);
  CHECK(y(1, 0) == 0);
  CHECK(y(1, 1) == 0);
  CHECK(y(2, 0) == 2);
  sum.self = self.data();
  sum.scale = scale.data();
  neighbour_sum(sum);
  CHECK(y(0, 0) == 3);
  CHECK(y(1, 0) == 4);
  CHECK(y(1, 1) == -20);
  CHECK(y(2, 0) == 4);
  CHECK(y(2, 1) == 0);
}

TEST_CASE_TEMPLATE("neighbour sum: every instruction set gives the bits of the reference", Real, float,
                   double) {
  for (std::int64_t width = 1; width <= 70; ++width) compare_with_reference<Real>(width, 0, 0);
  for (const std::int64_t width : {95, 96, 97, 100, 128, 193, 255, 256, 257, 300, 513}) {
    compare_with_reference<Real>(width, width % 3, width % 5);
  }
}

TEST_CASE_TEMPLATE("neighbour sum: rows of half width", Real, float, double) {
  for (std::int64_t width = 1; width <= 70; ++width) compare_half_with_whole<Real>(width, 0, 0);
  for (const std::int64_t width : {95, 96, 97, 100, 128, 193, 255, 256, 257, 300, 513}) {
    compare_half_with_whole<Real>(width, width % 3, width % 5);
  }
}

TEST_CASE_TEMPLATE("neighbour sum: the cut into row ranges changes nothing", Real, float, double) {
  Case<Real> problem(33, 1, 0);
  Matrix<Real> whole(Rows::kOwned, 33);
  Matrix<Real> pieces(Rows::kOwned, 33);
  for (const VectorIsa isa : test::usable_isas()) {
    internal::neighbour_sum_with(isa, problem.sum(whole, true, true, true));
    auto sum = problem.sum(pieces, true, true, true);
    for (const RowRange rows : {RowRange{0, 1}, RowRange{1, 1}, RowRange{1, 5}, RowRange{5, Rows::kOwned}}) {
      sum.rows = rows;
      internal::neighbour_sum_with(isa, sum);
    }
    CHECK(test::count_different(whole, pieces) == 0);
  }
}

TEST_CASE_TEMPLATE("neighbour sum: NaN and infinity reach exactly the rows that read them", Real, float,
                   double) {
  const std::array<EdgeId, 4> indptr{0, 2, 3, 3};
  const std::array<LocalId, 3> columns{1, 3, 2};
  Matrix<Real> x(4, 20);
  x.fill(1);
  x(3, 17) = std::numeric_limits<Real>::quiet_NaN();
  x(2, 4) = std::numeric_limits<Real>::infinity();
  for (const VectorIsa isa : test::usable_isas()) {
    Matrix<Real> y(3, 20);
    NeighbourSum<Real> sum;
    sum.indptr = indptr.data();
    sum.columns = columns.data();
    sum.x = x.view();
    sum.y = y.view();
    sum.rows = {0, 3};
    internal::neighbour_sum_with(isa, sum);
    CHECK(std::isnan(y(0, 17)));
    CHECK(y(0, 16) == 2);
    CHECK(std::isinf(y(1, 4)));
    CHECK(y(1, 17) == 1);
    CHECK(y(2, 17) == 0);
  }
}

TEST_CASE("neighbour sum: no rows, no columns, no edges") {
  const std::array<EdgeId, 3> indptr{0, 0, 0};
  Matrix<float> x(2, 5);
  x.fill(3.0F);
  for (const VectorIsa isa : test::usable_isas()) {
    Matrix<float> y(2, 5);
    NeighbourSum<float> sum;
    sum.indptr = indptr.data();
    sum.x = x.view();
    sum.y = y.view();
    sum.rows = {1, 1};
    internal::neighbour_sum_with(isa, sum);
    CHECK(std::isnan(y(1, 0)));  // untouched
    sum.rows = {0, 2};
    internal::neighbour_sum_with(isa, sum);
    CHECK(y(0, 0) == 0.0F);
    CHECK(y(1, 4) == 0.0F);
    sum.x.cols = sum.y.cols = 0;
    internal::neighbour_sum_with(isa, sum);
    CHECK(y(0, 0) == 0.0F);
  }
}

}  // namespace
}  // namespace halo::kernels
