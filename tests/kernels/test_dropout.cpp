#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "dropout.hpp"
#include "isas.hpp"
#include "matrices.hpp"

namespace halo::kernels {
namespace {

using test::Matrix;

std::vector<NodeId> ids_from(NodeId first, std::int64_t count) {
  std::vector<NodeId> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

// The definition, one element at a time.
template <typename Real>
Matrix<Real> slow_dropout(const Matrix<Real>& x, const std::vector<NodeId>& ids, const CounterRng& rng,
                          double p, bool relu) {
  Matrix<Real> y(x.view().rows, x.view().cols);
  for (std::int64_t r = 0; r < x.view().rows; ++r) {
    const std::uint64_t key = rng.row_key(ids[static_cast<std::size_t>(r)]);
    for (std::int64_t c = 0; c < x.view().cols; ++c) {
      const Real value = relu && x(r, c) <= 0 ? Real{0} : x(r, c);
      const double bits = CounterRng::column_bits(key, static_cast<std::uint64_t>(c));
      y(r, c) = bits >= p * 0x1.0p32 ? value * static_cast<Real>(1.0 / (1.0 - p)) : Real{0};
    }
  }
  return y;
}

TEST_CASE_TEMPLATE("dropout: every instruction set gives the bits of the definition, in place too", Real,
                   float, double) {
  const CounterRng rng(1, 2, 3);
  const auto ids = ids_from(100, 6);
  for (const std::int64_t width : {1, 2, 3, 7, 15, 16, 17, 33, 47, 100, 255, 256, 257, 300, 515}) {
    for (const double p : {0.0, 0.3, 0.5, 0.9}) {
      for (const bool relu : {false, true}) {
        Matrix<Real> x(6, width, width % 4, 1);
        x.randomise(7);
        x(3, width / 2) = std::numeric_limits<Real>::quiet_NaN();
        const Matrix<Real> expected = slow_dropout(x, ids, rng, p, relu);
        for (const VectorIsa isa : test::usable_isas()) {
          CAPTURE(to_string(isa));
          CAPTURE(width);
          CAPTURE(p);
          Matrix<Real> y(6, width, 3);
          internal::dropout_with<Real>(isa, relu, x.view(), ids, rng, p, y.view());
          CHECK(test::count_different(y, expected) == 0);
          CHECK(y.overwritten() == 0);
          Matrix<Real> in_place = x;
          internal::dropout_with<Real>(isa, relu, in_place.view(), ids, rng, p, in_place.view());
          CHECK(test::count_different(in_place, expected) == 0);
          CHECK(in_place.overwritten() == 0);
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("dropout: the cut into tiles changes nothing", Real, float, double) {
  const CounterRng rng(4, 0, 1);
  const auto ids = ids_from(0, 20);
  Matrix<Real> x(20, 33);
  x.randomise(8);
  Matrix<Real> whole(20, 33);
  Matrix<Real> halves(20, 33);
  dropout<Real>(x.view(), ids, rng, 0.4, whole.view());
  for (const RowRange rows : {RowRange{0, 7}, RowRange{7, 7}, RowRange{7, 20}}) {
    const auto part =
        std::span(ids).subspan(static_cast<std::size_t>(rows.begin), static_cast<std::size_t>(rows.size()));
    dropout<Real>(x.view().slice(rows), part, rng, 0.4, halves.view().slice(rows));
  }
  CHECK(test::count_different(whole, halves) == 0);
}

TEST_CASE("dropout: the share of kept elements is 1 - p, by column and by row") {
  constexpr std::int64_t kRows = 4000;
  constexpr std::int64_t kCols = 50;
  const auto ids = ids_from(0, kRows);
  Matrix<double> x(kRows, kCols);
  x.fill(1.0);
  for (const double p : {0.1, 0.5, 0.8}) {
    Matrix<double> y(kRows, kCols);
    dropout<double>(x.view(), ids, CounterRng(5, 0, 0), p, y.view());
    std::vector<double> by_column(kCols, 0.0);
    double pairs = 0.0;  // neighbouring columns share a 64-bit word: both kept?
    for (std::int64_t r = 0; r < kRows; ++r) {
      for (std::int64_t c = 0; c < kCols; ++c)
        by_column[static_cast<std::size_t>(c)] += y(r, c) != 0.0 ? 1.0 : 0.0;
      for (std::int64_t c = 0; c < kCols; c += 2) pairs += y(r, c) != 0.0 && y(r, c + 1) != 0.0 ? 1.0 : 0.0;
    }
    const double deviation = std::sqrt(p * (1.0 - p) / kRows);
    for (const double kept : by_column) CHECK(std::abs(kept / kRows - (1.0 - p)) < 5.0 * deviation);
    const double total = std::accumulate(by_column.begin(), by_column.end(), 0.0) / (kRows * kCols);
    CHECK(std::abs(total - (1.0 - p)) < 5.0 * deviation / std::sqrt(double{kCols}));
    const double both = (1.0 - p) * (1.0 - p);
    const double pair_count = kRows * kCols / 2.0;
    CHECK(std::abs(pairs / pair_count - both) < 5.0 * std::sqrt(both * (1.0 - both) / pair_count));
  }
}

TEST_CASE("dropout: seed, epoch, operation and node each change the choice") {
  Matrix<float> x(1, 256);
  x.fill(1.0F);
  const auto choice = [&](const CounterRng& rng, NodeId id) {
    Matrix<float> y(1, 256);
    dropout<float>(x.view(), std::vector{id}, rng, 0.5, y.view());
    return y;
  };
  const Matrix<float> first = choice(CounterRng(1, 1, 1), 1);
  CHECK(test::count_different(first, choice(CounterRng(1, 1, 1), 1)) == 0);
  for (const Matrix<float>& other : {choice(CounterRng(2, 1, 1), 1), choice(CounterRng(1, 2, 1), 1),
                                     choice(CounterRng(1, 1, 2), 1), choice(CounterRng(1, 1, 1), 2)}) {
    const int different = test::count_different(first, other);
    CHECK(different > 80);
    CHECK(different < 176);
  }
}

TEST_CASE_TEMPLATE("dropout: p at its ends", Real, float, double) {
  const auto ids = ids_from(0, 3);
  Matrix<Real> x(3, 40, 1);
  x.randomise(9);
  Matrix<Real> y(3, 40, 1);
  dropout<Real>(x.view(), ids, CounterRng(1, 1, 1), 0.0, y.view());
  CHECK(test::count_different(x, y) == 0);
  Matrix<Real> zero(3, 40);
  zero.fill(0);
  for (const double p : {1.0 - 0x1.0p-40, 1.0}) {
    dropout<Real>(x.view(), ids, CounterRng(1, 1, 1), p, y.view());
    CHECK(test::count_different(zero, y) == 0);
    CHECK(y.overwritten() == 0);
  }
  dropout<Real>(MatrixView<const Real>(x.view().data, 0, 40), {}, CounterRng(1, 1, 1), 0.5,
                MatrixView<Real>(y.view().data, 0, 40));
  CHECK(test::count_different(zero, y) == 0);
}

TEST_CASE_TEMPLATE("dropout: backward of relu and dropout in one pass is that of the two", Real, float,
                   double) {
  const CounterRng rng(3, 1, 2);
  const auto ids = ids_from(50, 8);
  Matrix<Real> x(8, 47);
  Matrix<Real> dy(8, 47);
  x.randomise(1);
  dy.randomise(2);
  Matrix<Real> positive(8, 47);
  Matrix<Real> y(8, 47);
  Matrix<Real> fused(8, 47);
  relu<Real>(x.view(), positive.view());
  dropout<Real>(positive.view(), ids, rng, 0.25, y.view());
  relu_dropout<Real>(x.view(), ids, rng, 0.25, fused.view());
  CHECK(test::count_different(y, fused) == 0);
  Matrix<Real> expected(8, 47);
  dropout<Real>(dy.view(), ids, rng, 0.25, expected.view());
  relu_backward<Real>(positive.view(), expected.view(), expected.view());
  Matrix<Real> dx(8, 47);
  relu_dropout_backward<Real>(fused.view(), dy.view(), 0.25, dx.view());
  CHECK(test::count_different(dx, expected) == 0);
  relu_dropout_backward<Real>(fused.view(), dy.view(), 0.25, dy.view());
  CHECK(test::count_different(dy, expected) == 0);
}

}  // namespace
}  // namespace halo::kernels
