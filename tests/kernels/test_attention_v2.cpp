#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

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
using test::widen;

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
  const BothWays graph = test::awkward_graph();
  for (const Shape& shape : test::shapes()) {
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

}  // namespace
}  // namespace halo::kernels
