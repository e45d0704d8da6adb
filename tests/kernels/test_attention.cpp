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
using test::Matrix;

// Degrees 0, 1, 2, ..., one beyond several blocks; loops, duplicates, nodes that nobody reads.
BothWays awkward_graph() {
  RandomStream random(17);
  std::vector<std::vector<LocalId>> in(24);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t degree = i == 9 ? 150 : i == 10 ? 32 : i == 11 ? 31 : i % 6;
    for (std::size_t e = 0; e < degree; ++e) in[i].push_back(static_cast<LocalId>(random.below(20)));
    if (i % 7 == 1) in[i].push_back(static_cast<LocalId>(i));
    std::sort(in[i].begin(), in[i].end());
  }
  return BothWays(in);
}

struct Shape {
  std::int64_t heads;
  std::int64_t cols;
  double size;  // of the scores
  double dropout;
  bool loops;
};

std::vector<Shape> shapes() {
  std::vector<Shape> shapes;
  for (const auto& [heads, cols] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {1, 7}, {8, 8}, {8, 5}, {3, 17}, {1, 64}, {2, 33}, {40, 3}, {256, 1}}) {
    for (const double size : {1.0, 200.0}) {
      for (const double dropout : {0.0, 0.4}) {
        shapes.push_back({heads, cols, size, dropout, (heads + cols + (dropout > 0 ? 1 : 0)) % 2 == 0});
        if (heads * cols == 64 || heads == 1) {
          shapes.push_back(shapes.back());
          shapes.back().loops = !shapes.back().loops;
        }
      }
    }
  }
  return shapes;
}

template <typename Real>
constexpr double kTolerance = sizeof(Real) == 4 ? 2e-5 : 1e-12;

// All results of GAT for random rows: [L, y, pack, dzts].
template <typename Real>
struct Gat {
  Matrix<Real> zts, dy, log_sum, y, pack, dzts;

  Gat(const BothWays& graph, const Shape& shape)
      : zts(graph.nodes, shape.heads * shape.cols + 2 * shape.heads, 1, 2),
        dy(graph.nodes, shape.heads * shape.cols),
        log_sum(graph.nodes, shape.heads, 2),
        y(graph.nodes, shape.heads * shape.cols, 3, 1),
        pack(graph.nodes, shape.heads * shape.cols + 3 * shape.heads, 1),
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
    loops.normaliser(in, zts.view(), log_sum.view());
    loops.sum(in, zts.view(), log_sum.view(), y.view());
    loops.pack(dy.view(), y.view(), zts.view(), log_sum.view(), shape.heads, pack.view());
    loops.source_gradient(out, pack.view(), zts.view(), dzts.view());
    loops.target_gradient(in, zts.view(), pack.view(), dzts.view());
  }
};

template <typename Real>
Matrix<Real> columns(const Matrix<Real>& x, std::int64_t begin, std::int64_t size) {
  Matrix<Real> part(x.view().rows, size);
  for (std::int64_t r = 0; r < x.view().rows; ++r) {
    for (std::int64_t c = 0; c < size; ++c) part(r, c) = x(r, begin + c);
  }
  return part;
}

template <typename Real>
Matrix<double> widen(const Matrix<Real>& x) {
  Matrix<double> wide(x.view().rows, x.view().cols);
  for (std::int64_t r = 0; r < x.view().rows; ++r) {
    for (std::int64_t c = 0; c < x.view().cols; ++c) wide(r, c) = static_cast<double>(x(r, c));
  }
  return wide;
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
  const BothWays graph = awkward_graph();
  for (const Shape& shape : shapes()) {
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
    const Matrix<Real> log_sum = twin.normalise([&](std::size_t e, std::int64_t h) {
      const Real sum = gat.zts(twin.target[e], width + shape.heads + h) + gat.zts(twin.source[e], width + h);
      return static_cast<double>(sum > 0 ? sum : in.slope * sum);
    });
    CHECK(test::largest_difference(gat.log_sum, widen(log_sum)) < kTolerance<Real>);
    CHECK(test::largest_difference(gat.y, twin.sum(gat.zts)) < kTolerance<Real>);
    CHECK(test::count_different(columns(gat.pack, 0, width), gat.dy) == 0);
    CHECK(test::count_different(columns(gat.pack, width, shape.heads), gat.log_sum) == 0);
    CHECK(test::count_different(columns(gat.pack, width + shape.heads, shape.heads),
                                columns(gat.zts, width + shape.heads, shape.heads)) == 0);
    twin.differentiate(gat.dy, gat.zts, columns(gat.pack, width + 2 * shape.heads, shape.heads));
    CHECK(test::largest_difference(gat.dzts, gat_gradient(twin, gat)) < 4 * kTolerance<Real>);
    for (const VectorIsa isa : test::usable_isas()) {
      CAPTURE(to_string(isa));
      Gat<Real> other(graph, shape);
      other.run(isa, graph, shape);
      CHECK(test::count_different(other.log_sum, gat.log_sum) == 0);
      CHECK(test::count_different(other.y, gat.y) == 0);
      CHECK(test::count_different(other.pack, gat.pack) == 0);
      CHECK(test::count_different(other.dzts, gat.dzts) == 0);
      CHECK(other.log_sum.overwritten() + other.y.overwritten() + other.pack.overwritten() +
                other.dzts.overwritten() ==
            0);
    }
  }
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
    Matrix<Real> log_sum(4, 1);
    Matrix<Real> y(4, 1);
    const auto in = graph.pass<Real>(true, false, 1);
    zts(0, 1) = 200;  // t_0
    zts(1, 1) = 200;
    zts(2, 1) = -1000;  // leaky: -200
    loops.normaliser(in, zts.view(), log_sum.view());
    loops.sum(in, zts.view(), log_sum.view(), y.view());
    CHECK(log_sum(0, 0) == 200);
    CHECK(y(0, 0) == zts(1, 0));
    CHECK(log_sum(1, 0) == 200);
    CHECK(y(1, 0) == zts(0, 0));
    CHECK(y(2, 0) == doctest::Approx(-0.7).epsilon(1e-5));  // the mean
    CHECK(log_sum(2, 0) == doctest::Approx(200.0 + std::log(4.0)));
    CHECK(y(3, 0) == 0);
    CHECK(log_sum(3, 0) == 0);
    const auto with_loops = graph.pass<Real>(true, true, 1);
    loops.normaliser(with_loops, zts.view(), log_sum.view());
    loops.sum(with_loops, zts.view(), log_sum.view(), y.view());
    CHECK(log_sum(3, 0) == 0);  // its own score: s_3 + t_3 = 0
    CHECK(y(3, 0) == zts(3, 0));
    CHECK(y(0, 0) == doctest::Approx(-0.7).epsilon(1e-5));
  }
}

// All results of GATv2 for random rows.
template <typename Real>
struct GatV2 {
  Matrix<Real> att, l, r, dy, log_sum, y, pack, dl, dr, d_att;

  GatV2(const BothWays& graph, const Shape& shape)
      : att(1, shape.heads * shape.cols),
        l(graph.nodes, shape.heads * shape.cols, 1, 2),
        r(l),
        dy(l),
        log_sum(graph.nodes, shape.heads, 2),
        y(l),
        pack(graph.nodes, 2 * shape.heads * shape.cols + 2 * shape.heads, 1),
        dl(l),
        dr(l),
        d_att(att) {
    att.randomise(1);
    l.randomise(2);
    r.randomise(3);
    dy.randomise(4);
    d_att.fill(0);
    for (std::int64_t c = 0; c < shape.heads * shape.cols; ++c) att(0, c) *= static_cast<Real>(shape.size);
  }
  void run(VectorIsa isa, const BothWays& graph, const Shape& shape) {
    const auto& loops = internal::attention_loops<Real>(isa);
    const auto in = graph.pass<Real>(true, shape.loops, shape.heads, shape.dropout);
    const auto out = graph.pass<Real>(false, shape.loops, shape.heads, shape.dropout);
    const Real* const a = att.view().data;
    loops.v2_normaliser(in, a, l.view(), r.view(), log_sum.view());
    loops.v2_sum(in, a, l.view(), r.view(), log_sum.view(), y.view());
    loops.v2_pack(dy.view(), y.view(), r.view(), log_sum.view(), shape.heads, pack.view());
    loops.v2_source_gradient(out, a, pack.view(), l.view(), dl.view());
    loops.v2_target_gradient(in, a, l.view(), pack.view(), dr.view(), d_att.view().data);
  }
};

template <typename Real>
void compare_v2_gradients(const AttentionTwin<Real>& twin, const GatV2<Real>& v2, double tolerance) {
  const std::int64_t width = twin.in.heads * twin.cols;
  Matrix<double> dl(twin.nodes, width), dr(twin.nodes, width), d_att(1, width);
  dl.fill(0);
  dr.fill(0);
  d_att.fill(0);
  twin.for_each([&](std::size_t e, std::int64_t h, std::int64_t c) {
    const double sum =
        static_cast<double>(v2.l(twin.source[e], c)) + static_cast<double>(v2.r(twin.target[e], c));
    const double g = twin.g[twin.at(e, h)];
    const double through = g * static_cast<double>(v2.att(0, c)) * twin.leaky_gradient(sum);
    dl(twin.source[e], c) +=
        twin.w[twin.at(e, h)] * twin.a[twin.at(e, h)] * static_cast<double>(v2.dy(twin.target[e], c)) +
        through;
    dr(twin.target[e], c) += through;
    d_att(0, c) += g * twin.leaky(sum);
  });
  CHECK(test::largest_difference(v2.dl, dl) < tolerance);
  CHECK(test::largest_difference(v2.dr, dr) < tolerance);
  CHECK(test::largest_difference(v2.d_att, d_att) < tolerance);
}

TEST_CASE_TEMPLATE("attention: passes of GATv2 against the definition, every instruction set alike", Real,
                   float, double) {
  const BothWays graph = awkward_graph();
  for (const Shape& shape : shapes()) {
    CAPTURE(shape.heads);
    CAPTURE(shape.cols);
    CAPTURE(shape.size);
    CAPTURE(shape.dropout);
    CAPTURE(shape.loops);
    GatV2<Real> v2(graph, shape);
    v2.run(VectorIsa::kPortable, graph, shape);
    const auto in = graph.pass<Real>(true, shape.loops, shape.heads, shape.dropout);
    AttentionTwin<Real> twin(in, shape.cols);
    const Matrix<Real> log_sum = twin.normalise([&](std::size_t e, std::int64_t h) {
      double score = 0.0;
      for (std::int64_t c = h * shape.cols; c < (h + 1) * shape.cols; ++c) {
        score += static_cast<double>(v2.att(0, c)) * twin.leaky(static_cast<double>(v2.l(twin.source[e], c)) +
                                                                static_cast<double>(v2.r(twin.target[e], c)));
      }
      return score;
    });
    // A score is a sum of `cols` products as large as `size`: exp magnifies what rounding does to it.
    const double tolerance =
        kTolerance<Real> * std::max(1.0, shape.size * std::sqrt(static_cast<double>(shape.cols)) / 4);
    CHECK(test::largest_difference(v2.log_sum, widen(log_sum)) < kTolerance<Real>);
    CHECK(test::largest_difference(v2.y, twin.sum(v2.l)) < tolerance);
    const std::int64_t width = shape.heads * shape.cols;
    CHECK(test::count_different(columns(v2.pack, 0, width), v2.dy) == 0);
    CHECK(test::count_different(columns(v2.pack, width, width), v2.r) == 0);
    CHECK(test::count_different(columns(v2.pack, 2 * width, shape.heads), v2.log_sum) == 0);
    twin.differentiate(v2.dy, v2.l, columns(v2.pack, 2 * width + shape.heads, shape.heads));
    compare_v2_gradients(twin, v2, 4 * tolerance);
    for (const VectorIsa isa : test::usable_isas()) {
      CAPTURE(to_string(isa));
      GatV2<Real> other(graph, shape);
      other.run(isa, graph, shape);
      CHECK(test::count_different(other.log_sum, v2.log_sum) == 0);
      CHECK(test::count_different(other.y, v2.y) == 0);
      CHECK(test::count_different(other.pack, v2.pack) == 0);
      CHECK(test::count_different(other.dl, v2.dl) == 0);
      CHECK(test::count_different(other.dr, v2.dr) == 0);
      CHECK(test::count_different(other.d_att, v2.d_att) == 0);
      CHECK(other.y.overwritten() + other.dl.overwritten() + other.dr.overwritten() == 0);
    }
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
  const BothWays graph = awkward_graph();
  const Shape shape{4, 6, 1.0, 0.3, true};
  Gat<Real> whole(graph, shape);
  whole.run(vector_isa(), graph, shape);
  Gat<Real> pieces(graph, shape);
  auto in = graph.pass<Real>(true, true, shape.heads, shape.dropout);
  auto out = graph.pass<Real>(false, true, shape.heads, shape.dropout);
  const std::vector<RowRange> cuts{{0, 1}, {1, 1}, {1, 9}, {9, 10}, {10, graph.nodes}};
  for (const RowRange rows : cuts) {
    in.rows = rows;
    attention_normaliser<Real>(in, pieces.zts.view(), pieces.log_sum.view());
    attention_sum<Real>(in, pieces.zts.view(), pieces.log_sum.view(), pieces.y.view());
  }
  attention_pack<Real>(pieces.dy.view(), pieces.y.view(), pieces.zts.view(), pieces.log_sum.view(),
                       shape.heads, pieces.pack.view());
  for (const RowRange rows : cuts) {
    in.rows = out.rows = rows;
    attention_source_gradient<Real>(out, pieces.pack.view(), pieces.zts.view(), pieces.dzts.view());
    attention_target_gradient<Real>(in, pieces.zts.view(), pieces.pack.view(), pieces.dzts.view());
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
  Matrix<double> log_sum(kNodes, kHeads);
  Matrix<double> y(kNodes, kHeads);
  zts.fill(0);
  for (std::int64_t r = 0; r < kNodes; ++r) {
    for (std::int64_t h = 0; h < kHeads; ++h) zts(r, h) = 1.0;
  }
  for (const double p : {0.1, 0.6, 1.0 - 0x1.0p-40, 1.0}) {
    const auto in = graph.pass<double>(true, false, kHeads, p);
    attention_normaliser<double>(in, zts.view(), log_sum.view());
    attention_sum<double>(in, zts.view(), log_sum.view(), y.view());
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
    Matrix<Real> log_sum(4, 1);
    Matrix<Real> y(4, 20);
    const auto in = graph.pass<Real>(true, false, 1);
    loops.normaliser(in, zts.view(), log_sum.view());
    loops.sum(in, zts.view(), log_sum.view(), y.view());
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
