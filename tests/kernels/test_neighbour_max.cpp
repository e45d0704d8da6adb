#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attention_twin.hpp"
#include "isas.hpp"
#include "matrices.hpp"
#include "neighbour_max_loops.hpp"

namespace halo::kernels {
namespace {

using test::BothWays;
using test::Matrix;

NeighbourEdges edges(const BothWays& graph, bool in) {
  return {.indptr = (in ? graph.in_indptr : graph.out_indptr).data(),
          .columns = (in ? graph.in_columns : graph.out_columns).data(),
          .rows = {0, graph.nodes}};
}

// y, shares and dx by their definitions, one edge and one column at a time.
template <typename Real>
struct Twin {
  Matrix<Real> y, shares, dx;

  Twin(const BothWays& graph, const Matrix<Real>& x, const Matrix<Real>& dy)
      : y(graph.nodes, x.view().cols), shares(graph.nodes, 2 * x.view().cols), dx(y) {
    const std::int64_t cols = x.view().cols;
    dx.fill(0);
    for (std::int64_t c = 0; c < cols; ++c) {
      for (std::int64_t i = 0; i < graph.nodes; ++i) {
        const auto begin = graph.in_indptr[static_cast<std::size_t>(i)];
        const auto end = graph.in_indptr[static_cast<std::size_t>(i) + 1];
        std::vector<Real> values;
        for (auto e = begin; e < end; ++e)
          values.push_back(x(graph.in_columns[static_cast<std::size_t>(e)], c));
        y(i, c) = values.empty() ? Real{0} : *std::max_element(values.begin(), values.end());
        const auto ties = std::count(values.begin(), values.end(), y(i, c));
        shares(i, c) = y(i, c);
        shares(i, cols + c) = ties > 0 ? dy(i, c) / static_cast<Real>(ties) : Real{0};
      }
      for (std::int64_t j = 0; j < graph.nodes; ++j) {
        for (auto e = graph.out_indptr[static_cast<std::size_t>(j)];
             e < graph.out_indptr[static_cast<std::size_t>(j) + 1]; ++e) {
          const LocalId i = graph.out_columns[static_cast<std::size_t>(e)];
          if (shares(i, c) == x(j, c)) dx(j, c) += shares(i, cols + c);
        }
      }
    }
  }
};

BothWays random_graph() {
  RandomStream random(23);
  std::vector<std::vector<LocalId>> in(30);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t degree = i == 4 ? 100 : i % 5;
    for (std::size_t e = 0; e < degree; ++e) in[i].push_back(static_cast<LocalId>(random.below(25)));
    std::sort(in[i].begin(), in[i].end());
  }
  return BothWays(in);
}

TEST_CASE_TEMPLATE("neighbour max: every instruction set gives the bits of the definition", Real, float,
                   double) {
  const BothWays graph = random_graph();
  for (const std::int64_t cols : {1, 3, 8, 15, 16, 17, 33, 64, 100}) {
    for (const bool ties : {false, true}) {
      Matrix<Real> x(graph.nodes, cols, 1, 2);
      Matrix<Real> dy(graph.nodes, cols, 3);
      x.randomise(1);
      dy.randomise(2);
      for (std::int64_t r = 0; r < graph.nodes && ties; ++r) {
        for (std::int64_t c = 0; c < cols; ++c) x(r, c) = std::round(x(r, c) * 3);
      }
      const Twin<Real> twin(graph, x, dy);
      for (const VectorIsa isa : test::usable_isas()) {
        CAPTURE(to_string(isa));
        CAPTURE(cols);
        const auto& loops = internal::neighbour_max_loops<Real>(isa);
        Matrix<Real> y(graph.nodes, cols, 2);
        Matrix<Real> shares(graph.nodes, 2 * cols, 1, 1);
        Matrix<Real> dx(graph.nodes, cols, 1);
        loops.largest(edges(graph, true), x.view(), y.view());
        loops.share(edges(graph, true), x.view(), y.view(), dy.view(), shares.view());
        loops.gradient(edges(graph, false), shares.view(), x.view(), dx.view());
        CHECK(test::count_different(y, twin.y) == 0);
        CHECK(test::count_different(shares, twin.shares) == 0);
        CHECK(test::count_different(dx, twin.dx) == 0);
        CHECK(y.overwritten() + shares.overwritten() + dx.overwritten() == 0);
      }
    }
  }
}

TEST_CASE("neighbour max: ties share evenly, a double edge takes two shares, an empty row gives zero") {
  // Row 0 <- {1, 2}: both 5; row 1 <- {0, 2, 2}: 5 twice; row 2 <- {}; row 3 <- {0}: -7.
  const BothWays graph({{1, 2}, {0, 2, 2}, {}, {0}});
  Matrix<double> x(4, 1);
  x(0, 0) = -7;
  x(1, 0) = x(2, 0) = 5;
  x(3, 0) = 0;
  Matrix<double> dy(4, 1);
  dy.fill(6);
  Matrix<double> y(4, 1);
  Matrix<double> shares(4, 2);
  Matrix<double> dx(4, 1);
  neighbour_max<double>(edges(graph, true), x.view(), y.view());
  neighbour_max_share<double>(edges(graph, true), x.view(), y.view(), dy.view(), shares.view());
  neighbour_max_gradient<double>(edges(graph, false), shares.view(), x.view(), dx.view());
  CHECK(y(0, 0) == 5);
  CHECK(y(1, 0) == 5);
  CHECK(y(2, 0) == 0);
  CHECK(y(3, 0) == -7);
  CHECK(shares(0, 1) == 3);
  CHECK(shares(1, 1) == 3);
  CHECK(shares(2, 1) == 0);
  CHECK(dx(0, 0) == 6);  // row 3
  CHECK(dx(1, 0) == 3);  // row 0
  CHECK(dx(2, 0) == 9);  // row 0 once, row 1 twice
  CHECK(dx(3, 0) == 0);
}

TEST_CASE_TEMPLATE("neighbour max: NaN and infinities come through", Real, float, double) {
  const BothWays graph({{1, 2, 3}, {2, 3}, {3}, {}});
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  Matrix<Real> x(4, 20);
  x.fill(1);
  for (std::int64_t c = 0; c < 20; ++c) x(3, c) = -kInfinity;
  x(1, 17) = std::numeric_limits<Real>::quiet_NaN();
  x(2, 3) = kInfinity;
  for (const VectorIsa isa : test::usable_isas()) {
    Matrix<Real> y(4, 20);
    internal::neighbour_max_loops<Real>(isa).largest(edges(graph, true), x.view(), y.view());
    CHECK(std::isnan(y(0, 17)));
    CHECK(y(0, 16) == 1);
    CHECK(y(1, 17) == 1);
    CHECK(y(1, 3) == kInfinity);
    CHECK(y(2, 3) == -kInfinity);
    CHECK(y(3, 3) == 0);
  }
}

}  // namespace
}  // namespace halo::kernels
