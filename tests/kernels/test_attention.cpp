#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "attention_loops.hpp"
#include "attention_twin.hpp"
#include "isas.hpp"
#include "matrices.hpp"

namespace halo::kernels {
namespace {

using test::AttentionTwin;
using test::BothWays;
using test::columns;
using test::kTolerance;
using test::Matrix;
using test::Shape;

// All results of GAT for random rows; y with what backward needs of the sum.
template <typename Real>
struct Gat {
  Matrix<Real> zts, dy, normaliser, y, plain_y, pack, ds, dzts;

  Gat(const BothWays& graph, const Shape& shape)
      : zts(graph.nodes, shape.heads * shape.cols + 2 * shape.heads, 1, 2),
        dy(graph.nodes, shape.heads * shape.cols),
        normaliser(graph.nodes, 3 * shape.heads, 2),
        y(graph.nodes, 2 * shape.heads * shape.cols + shape.heads, 3, 1),
        plain_y(graph.nodes, shape.heads * shape.cols, 1),
        pack(graph.nodes, shape.heads * shape.cols + 3 * shape.heads, 1),
        ds(graph.nodes, shape.heads, 1),
        dzts(graph.nodes, shape.heads * shape.cols + 2 * shape.heads, 2) {
    zts.randomise(1);
    dy.randomise(2);
    const std::int64_t width = shape.heads * shape.cols;
    for (std::int64_t r = 0; r < graph.nodes; ++r) {
      for (std::int64_t c = width; c < width + 2 * shape.heads; ++c)
        zts(r, c) *= static_cast<Real>(shape.size);
    }
  }
  void run(VectorIsa isa, const BothWays& graph, const Shape& shape) {
    const auto& loops = internal::attention_loops<Real>(isa);
    const auto in = graph.pass<Real>(true, shape.loops, shape.heads, shape.dropout);
    const auto out = graph.pass<Real>(false, shape.loops, shape.heads, shape.dropout);
    loops.normaliser(in, zts.view(), normaliser.view());
    loops.sum(in, zts.view(), normaliser.view(), y.view());
    loops.sum(in, zts.view(), normaliser.view(), plain_y.view());
    loops.pack(dy.view(), y.view(), normaliser.view(), shape.heads, pack.view());
    loops.target_gradient(pack.view(), y.view(), shape.heads, in.slope, ds.view());
    loops.source_gradient(out, pack.view(), zts.view(), ds.view(), dzts.view());
  }
};

template <typename Real>
test::Normaliser normalise(AttentionTwin<Real>& twin, const Gat<Real>& gat) {
  const std::int64_t width = twin.in.heads * twin.cols;
  return twin.normalise([&](std::size_t e, std::int64_t h) {
    const Real sum = gat.zts(twin.target[e], width + twin.in.heads + h) + gat.zts(twin.source[e], width + h);
    return static_cast<double>(sum > 0 ? sum : twin.in.slope * sum);
  });
}

template <typename Real>
Matrix<double> gat_gradient(const AttentionTwin<Real>& twin, const Gat<Real>& gat) {
  const std::int64_t heads = twin.in.heads;
  const std::int64_t width = heads * twin.cols;
  Matrix<double> dzts(twin.nodes, width + 2 * heads);
  dzts.fill(0);
  twin.for_each([&](std::size_t e, std::int64_t h, std::int64_t c) {
    dzts(twin.source[e], c) +=
        twin.w[twin.at(e, h)] * twin.a[twin.at(e, h)] * static_cast<double>(gat.dy(twin.target[e], c));
  });
  for (std::size_t e = 0; e < twin.target.size(); ++e) {
    for (std::int64_t h = 0; h < heads; ++h) {
      const Real before = gat.zts(twin.target[e], width + heads + h) + gat.zts(twin.source[e], width + h);
      const double g = twin.g[twin.at(e, h)] * twin.leaky_gradient(static_cast<double>(before));
      dzts(twin.source[e], width + h) += g;
      dzts(twin.target[e], width + heads + h) += g;
    }
  }
  return dzts;
}

TEST_CASE_TEMPLATE("attention: passes of GAT against the definition, every instruction set alike", Real,
                   float, double) {
  const BothWays graph = test::awkward_graph();
  for (const Shape& shape : test::shapes()) {
    CAPTURE(shape.heads);
    CAPTURE(shape.cols);
    CAPTURE(shape.size);
    CAPTURE(shape.dropout);
    CAPTURE(shape.loops);
    const std::int64_t width = shape.heads * shape.cols;
    Gat<Real> gat(graph, shape);
    gat.run(VectorIsa::kPortable, graph, shape);
    const auto in = graph.pass<Real>(true, shape.loops, shape.heads, shape.dropout);
    AttentionTwin<Real> twin(in, shape.cols);
    const test::Normaliser expected = normalise(twin, gat);
    const Matrix<Real> largest = columns(gat.normaliser, 0, shape.heads);
    CHECK(test::largest_difference(largest, expected.largest) == 0);
    CHECK(test::largest_difference(columns(gat.normaliser, shape.heads, shape.heads), expected.q) <
          kTolerance<Real>);
    const Matrix<double> y = twin.sum(gat.zts);
    CHECK(test::largest_difference(gat.plain_y, y) < kTolerance<Real>);
    CHECK(test::count_different(columns(gat.y, 0, width), gat.plain_y) == 0);
    CHECK(test::largest_difference(columns(gat.pack, 0, width), twin.scaled(gat.dy, expected.q)) <
          kTolerance<Real>);
    CHECK(test::count_different(columns(gat.pack, width, shape.heads), largest) == 0);
    CHECK(test::count_different(columns(gat.pack, width + shape.heads, shape.heads),
                                columns(gat.zts, width + shape.heads, shape.heads)) == 0);
    twin.differentiate(gat.dy, gat.zts, y);
    CHECK(test::largest_difference(gat.dzts, gat_gradient(twin, gat)) < 4 * kTolerance<Real>);
    for (const VectorIsa isa : test::usable_isas()) {
      CAPTURE(to_string(isa));
      Gat<Real> other(graph, shape);
      other.run(isa, graph, shape);
      CHECK(test::count_different(other.normaliser, gat.normaliser) == 0);
      CHECK(test::count_different(other.y, gat.y) == 0);
      CHECK(test::count_different(other.pack, gat.pack) == 0);
      CHECK(test::count_different(other.dzts, gat.dzts) == 0);
      CHECK(other.normaliser.overwritten() + other.y.overwritten() + other.plain_y.overwritten() +
                other.pack.overwritten() + other.ds.overwritten() + other.dzts.overwritten() ==
            0);
    }
  }
}

// Scores, however large, are input: what float makes of their coefficients must not be off by their size.
TEST_CASE("attention: gradients of GAT in float at scores of +-200") {
  const BothWays graph = test::awkward_graph();
  const Shape shape{.heads = 4, .cols = 16, .size = 200.0, .dropout = 0.0, .loops = true};
  Gat<float> gat(graph, shape);
  gat.run(vector_isa(), graph, shape);
  const auto in = graph.pass<float>(true, shape.loops, shape.heads);
  AttentionTwin<float> twin(in, shape.cols);
  normalise(twin, gat);
  twin.differentiate(gat.dy, gat.zts, twin.sum(gat.zts));
  const std::int64_t width = shape.heads * shape.cols;
  const Matrix<double> expected = gat_gradient(twin, gat);
  CHECK(test::largest_difference(columns(gat.dzts, 0, width), columns(expected, 0, width), 0.0) < 3e-6);
  CHECK(test::largest_difference(columns(gat.dzts, width, 2 * shape.heads),
                                 columns(expected, width, 2 * shape.heads), 0.0) < 3e-6);
}

TEST_CASE_TEMPLATE("attention: one neighbour weighs exactly 1, opposite scores of 200 leave one, equal share",
                   Real, float, double) {
  // Row 0 <- {1}; row 1 <- {0, 2}; row 2 <- {0, 0, 1, 1}; row 3 <- {}.
  const BothWays graph({{1}, {0, 2}, {0, 0, 1, 1}, {}});
  Matrix<Real> zts(4, 3);
  zts.fill(0);
  zts(0, 0) = Real(0.3);
  zts(1, 0) = Real(-1.7);
  zts(2, 0) = Real(5);
  for (const VectorIsa isa : test::usable_isas()) {
    const auto& loops = internal::attention_loops<Real>(isa);
    Matrix<Real> normaliser(4, 3);
    Matrix<Real> y(4, 1);
    const auto in = graph.pass<Real>(true, false, 1);
    zts(0, 1) = 200;  // t_0
    zts(1, 1) = 200;
    zts(2, 1) = -1000;  // leaky: -200
    loops.normaliser(in, zts.view(), normaliser.view());
    loops.sum(in, zts.view(), normaliser.view(), y.view());
    CHECK(normaliser(0, 0) == 200);
    CHECK(normaliser(0, 1) == 1);
    CHECK(y(0, 0) == zts(1, 0));
    CHECK(normaliser(1, 0) == 200);
    CHECK(normaliser(1, 1) == 1);
    CHECK(y(1, 0) == zts(0, 0));
    CHECK(y(2, 0) == doctest::Approx(-0.7).epsilon(1e-5));  // the mean
    CHECK(normaliser(2, 0) == 200);
    CHECK(normaliser(2, 1) == Real(0.25));
    CHECK(y(3, 0) == 0);
    CHECK(normaliser(3, 0) == 0);
    CHECK(normaliser(3, 1) == 0);
    const auto with_loops = graph.pass<Real>(true, true, 1);
    loops.normaliser(with_loops, zts.view(), normaliser.view());
    loops.sum(with_loops, zts.view(), normaliser.view(), y.view());
    CHECK(normaliser(3, 0) == 0);  // its own score: s_3 + t_3 = 0
    CHECK(normaliser(3, 1) == 1);
    CHECK(y(3, 0) == zts(3, 0));
    CHECK(y(0, 0) == doctest::Approx(-0.7).epsilon(1e-5));
  }
}

TEST_CASE_TEMPLATE("attention: what backward needs of a target's edges with negative scores, by hand", Real,
                   float, double) {
  // Row 0 <- {1, 2, 3}, s = 0, t = (-, 0, 2, -4): the first and the last are multiplied by the slope.
  const BothWays graph({{1, 2, 3}, {0}, {}, {}});
  Matrix<Real> zts(4, 3);
  zts.fill(0);
  const Real z[] = {0, 3, 5, 7};
  const Real t[] = {1, 0, 2, -4};
  for (std::int64_t r = 0; r < 4; ++r) {
    zts(r, 0) = z[r];
    zts(r, 1) = t[r];
  }
  const double slope = 0.2;  // of the passes
  const double exp_1 = std::exp(0.0 - 2.0);
  const double exp_3 = std::exp(-4.0 * slope - 2.0);
  for (const VectorIsa isa : test::usable_isas()) {
    const auto& loops = internal::attention_loops<Real>(isa);
    const auto in = graph.pass<Real>(true, false, 1);
    REQUIRE(static_cast<double>(in.slope) == doctest::Approx(slope));
    Matrix<Real> normaliser(4, 3), y(4, 3), dy(4, 1), pack(4, 4), ds(4, 1);
    loops.normaliser(in, zts.view(), normaliser.view());
    loops.sum(in, zts.view(), normaliser.view(), y.view());
    const double q = 1.0 / (exp_1 + 1.0 + exp_3);
    CHECK(normaliser(0, 1) == doctest::Approx(q));
    CHECK(y(0, 0) == doctest::Approx(q * (3.0 * exp_1 + 5.0 + 7.0 * exp_3)));
    CHECK(y(0, 1) == doctest::Approx(3.0 * exp_1 + 7.0 * exp_3));
    CHECK(y(0, 2) == doctest::Approx(exp_1 + exp_3));
    CHECK(y(1, 1) == 0);  // a positive score alone
    CHECK(y(1, 2) == 0);
    CHECK(y(2, 2) == 0);  // no neighbour
    dy.fill(2);
    loops.pack(dy.view(), y.view(), normaliser.view(), 1, pack.view());
    loops.target_gradient(pack.view(), y.view(), 1, in.slope, ds.view());
    const double mean = static_cast<double>(y(0, 0));
    const auto g = [&](double exp, double value) { return 2.0 * q * exp * (value - mean); };
    CHECK(ds(0, 0) == doctest::Approx(g(1.0, 5.0) + slope * (g(exp_1, 3.0) + g(exp_3, 7.0))).epsilon(1e-5));
    CHECK(ds(1, 0) == 0);
    CHECK(ds(2, 0) == 0);
  }
}

TEST_CASE_TEMPLATE("attention: scores of rows and their gradient by hand, every instruction set alike", Real,
                   float, double) {
  // 2 heads of 2 channels; z = (1, 2 | 3, 4); att_src = (1, 0 | 2, -1); att_dst = (0, 3 | 1, 1).
  const std::vector<Real> src{1, 0, 2, -1};
  const std::vector<Real> dst{0, 3, 1, 1};
  for (const VectorIsa isa : test::usable_isas()) {
    const auto& loops = internal::attention_loops<Real>(isa);
    Matrix<Real> z(1, 4);
    for (std::int64_t c = 0; c < 4; ++c) z(0, c) = static_cast<Real>(c + 1);
    Matrix<Real> zts(1, 8);
    loops.scores(z.view(), src.data(), dst.data(), 2, zts.view());
    const std::vector<Real> expected{1, 2, 3, 4, 1, 2, 6, 7};
    for (std::int64_t c = 0; c < 8; ++c) CHECK(zts(0, c) == expected[static_cast<std::size_t>(c)]);
    Matrix<Real> dzts(1, 8);
    for (std::int64_t c = 0; c < 4; ++c) dzts(0, c) = 10;
    dzts(0, 4) = 1;  // dt
    dzts(0, 5) = 2;
    dzts(0, 6) = 3;  // ds
    dzts(0, 7) = 4;
    Matrix<Real> dz(1, 4);
    std::vector<Real> d_src(4, 1);
    std::vector<Real> d_dst(4, 0);
    loops.scores_gradient(zts.view(), dzts.view(), src.data(), dst.data(), 2, dz.view(), d_src.data(),
                          d_dst.data());
    CHECK(dz(0, 0) == 11);  // 10 + 1 * 1 + 3 * 0
    CHECK(dz(0, 1) == 19);  // 10 + 1 * 0 + 3 * 3
    CHECK(dz(0, 2) == 18);  // 10 + 2 * 2 + 4 * 1
    CHECK(dz(0, 3) == 12);  // 10 + 2 * -1 + 4 * 1
    CHECK(d_src == std::vector<Real>{2, 3, 7, 9});
    CHECK(d_dst == std::vector<Real>{3, 6, 12, 16});
  }
}

TEST_CASE_TEMPLATE("attention: the cut into row ranges changes nothing", Real, float, double) {
  const BothWays graph = test::awkward_graph();
  const Shape shape{4, 6, 1.0, 0.3, true};
  Gat<Real> whole(graph, shape);
  whole.run(vector_isa(), graph, shape);
  Gat<Real> pieces(graph, shape);
  auto in = graph.pass<Real>(true, true, shape.heads, shape.dropout);
  auto out = graph.pass<Real>(false, true, shape.heads, shape.dropout);
  const std::vector<RowRange> cuts{{0, 1}, {1, 1}, {1, 9}, {9, 10}, {10, graph.nodes}};
  for (const RowRange rows : cuts) {
    in.rows = rows;
    attention_normaliser<Real>(in, pieces.zts.view(), pieces.normaliser.view());
    attention_sum<Real>(in, pieces.zts.view(), pieces.normaliser.view(), pieces.y.view());
  }
  attention_pack<Real>(pieces.dy.view(), pieces.y.view(), pieces.normaliser.view(), shape.heads,
                       pieces.pack.view());
  attention_target_gradient<Real>(pieces.pack.view(), pieces.y.view(), shape.heads, in.slope,
                                  pieces.ds.view());
  for (const RowRange rows : cuts) {
    out.rows = rows;
    attention_source_gradient<Real>(out, pieces.pack.view(), pieces.zts.view(), pieces.ds.view(),
                                    pieces.dzts.view());
  }
  CHECK(test::count_different(whole.y, pieces.y) == 0);
  CHECK(test::count_different(whole.dzts, pieces.dzts) == 0);
}

TEST_CASE("attention: dropout keeps the share 1 - p, by head, and p = 1 keeps nothing") {
  constexpr std::int64_t kNodes = 3000;
  constexpr std::int64_t kHeads = 5;
  std::vector<std::vector<LocalId>> ring(kNodes);
  for (std::size_t i = 0; i < ring.size(); ++i) ring[i].push_back(static_cast<LocalId>((i + 1) % kNodes));
  const BothWays graph(ring);
  Matrix<double> zts(kNodes, 3 * kHeads);
  Matrix<double> normaliser(kNodes, 3 * kHeads);
  Matrix<double> y(kNodes, kHeads);
  zts.fill(0);
  for (std::int64_t r = 0; r < kNodes; ++r) {
    for (std::int64_t h = 0; h < kHeads; ++h) zts(r, h) = 1.0;
  }
  for (const double p : {0.1, 0.6, 1.0 - 0x1.0p-40, 1.0}) {
    const auto in = graph.pass<double>(true, false, kHeads, p);
    attention_normaliser<double>(in, zts.view(), normaliser.view());
    attention_sum<double>(in, zts.view(), normaliser.view(), y.view());
    for (std::int64_t h = 0; h < kHeads; ++h) {
      double kept = 0.0;
      for (std::int64_t r = 0; r < kNodes; ++r) {
        kept += y(r, h) != 0.0 ? 1.0 : 0.0;
        if (y(r, h) != 0.0) CHECK(y(r, h) == doctest::Approx(1.0 / (1.0 - p)));
      }
      const double deviation = std::sqrt(p * (1.0 - p) / kNodes);
      CHECK(std::abs(kept / kNodes - (1.0 - p)) <= 5.0 * deviation);
    }
  }
}

TEST_CASE_TEMPLATE("attention: NaN reaches exactly the rows that read it", Real, float, double) {
  const BothWays graph({{1}, {0, 2}, {2, 3}, {}});
  Matrix<Real> zts(4, 22);
  zts.randomise(5);
  zts(3, 20) = std::numeric_limits<Real>::quiet_NaN();  // t_3
  for (const VectorIsa isa : test::usable_isas()) {
    const auto& loops = internal::attention_loops<Real>(isa);
    Matrix<Real> normaliser(4, 3);
    Matrix<Real> y(4, 20);
    const auto in = graph.pass<Real>(true, false, 1);
    loops.normaliser(in, zts.view(), normaliser.view());
    loops.sum(in, zts.view(), normaliser.view(), y.view());
    for (std::int64_t c = 0; c < 20; ++c) {
      CHECK(std::isfinite(y(0, c)));
      CHECK(std::isfinite(y(1, c)));
      CHECK(std::isnan(y(2, c)));
      CHECK(y(3, c) == 0);
    }
  }
}

}  // namespace
}  // namespace halo::kernels
