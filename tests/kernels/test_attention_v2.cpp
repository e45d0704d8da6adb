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

// All results of GATv2 for random rows.
template <typename Real>
struct GatV2 {
  Matrix<Real> att, l, r, dy, normaliser, y, pack, dl, dr, d_att;

  GatV2(const BothWays& graph, const Shape& shape)
      : att(1, shape.heads * shape.cols),
        l(graph.nodes, shape.heads * shape.cols, 1, 2),
        r(l),
        dy(l),
        normaliser(graph.nodes, 2 * shape.heads, 2),
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
    loops.v2_normaliser(in, a, l.view(), r.view(), normaliser.view());
    loops.v2_sum(in, a, l.view(), r.view(), normaliser.view(), y.view());
    loops.v2_pack(dy.view(), y.view(), r.view(), normaliser.view(), shape.heads, pack.view());
    loops.v2_source_gradient(out, a, pack.view(), l.view(), dl.view());
    loops.v2_target_gradient(in, a, l.view(), pack.view(), dr.view(), d_att.view().data);
  }
};

template <typename Real>
test::Normaliser normalise(AttentionTwin<Real>& twin, const GatV2<Real>& v2) {
  return twin.normalise([&](std::size_t e, std::int64_t h) {
    double score = 0.0;
    for (std::int64_t c = h * twin.cols; c < (h + 1) * twin.cols; ++c) {
      score += static_cast<double>(v2.att(0, c)) * twin.leaky(static_cast<double>(v2.l(twin.source[e], c)) +
                                                              static_cast<double>(v2.r(twin.target[e], c)));
    }
    return score;
  });
}

template <typename Real>
void compare_v2_gradients(const AttentionTwin<Real>& twin, const GatV2<Real>& v2, double tolerance,
                          double least_scale = 1.0) {
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
  CHECK(test::largest_difference(v2.dl, dl, least_scale) < tolerance);
  CHECK(test::largest_difference(v2.dr, dr, least_scale) < tolerance);
  CHECK(test::largest_difference(v2.d_att, d_att, least_scale) < tolerance);
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
    const test::Normaliser expected = normalise(twin, v2);
    // A score is a sum of `cols` products as large as `size`: exp magnifies what rounding does to it.
    const double tolerance =
        kTolerance<Real> * std::max(1.0, shape.size * std::sqrt(static_cast<double>(shape.cols)) / 4);
    const Matrix<Real> largest = columns(v2.normaliser, 0, shape.heads);
    CHECK(test::largest_difference(largest, expected.largest) < kTolerance<Real>);
    CHECK(test::largest_difference(columns(v2.normaliser, shape.heads, shape.heads), expected.q) < tolerance);
    const Matrix<double> y = twin.sum(v2.l);
    CHECK(test::largest_difference(v2.y, y) < tolerance);
    const std::int64_t width = shape.heads * shape.cols;
    CHECK(test::largest_difference(columns(v2.pack, 0, width), twin.scaled(v2.dy, expected.q)) < tolerance);
    CHECK(test::count_different(columns(v2.pack, width, width), v2.r) == 0);
    CHECK(test::count_different(columns(v2.pack, 2 * width, shape.heads), largest) == 0);
    twin.differentiate(v2.dy, v2.l, y);
    compare_v2_gradients(twin, v2, 4 * tolerance);
    for (const VectorIsa isa : test::usable_isas()) {
      CAPTURE(to_string(isa));
      GatV2<Real> other(graph, shape);
      other.run(isa, graph, shape);
      CHECK(test::count_different(other.normaliser, v2.normaliser) == 0);
      CHECK(test::count_different(other.y, v2.y) == 0);
      CHECK(test::count_different(other.pack, v2.pack) == 0);
      CHECK(test::count_different(other.dl, v2.dl) == 0);
      CHECK(test::count_different(other.dr, v2.dr) == 0);
      CHECK(test::count_different(other.d_att, v2.d_att) == 0);
      CHECK(other.y.overwritten() + other.dl.overwritten() + other.dr.overwritten() == 0);
    }
  }
}

// To multiples of a step, so that float adds and multiplies what follows without rounding.
void round_to(Matrix<float>& x, float step) {
  for (std::int64_t r = 0; r < x.view().rows; ++r) {
    for (std::int64_t c = 0; c < x.view().cols; ++c) x(r, c) = std::round(x(r, c) / step) * step;
  }
}

// Scores without a rounding error: what is off is off by what float makes of the coefficients.
TEST_CASE("attention: gradients of GATv2 in float at scores of +-200") {
  const BothWays graph = test::awkward_graph();
  const Shape shape{.heads = 4, .cols = 16, .size = 100.0, .dropout = 0.0, .loops = true};
  GatV2<float> v2(graph, shape);
  for (Matrix<float>* const x : {&v2.l, &v2.r}) {
    round_to(*x, 1.0F / 16);
    for (std::int64_t i = 0; i < graph.nodes; ++i) {  // above zero: the slope is no multiple of a step
      for (std::int64_t c = 0; c < shape.heads * shape.cols; ++c) (*x)(i, c) = std::abs((*x)(i, c));
    }
  }
  round_to(v2.att, 0.25F);
  v2.run(vector_isa(), graph, shape);
  const auto in = graph.pass<float>(true, shape.loops, shape.heads);
  AttentionTwin<float> twin(in, shape.cols);
  const test::Normaliser expected = normalise(twin, v2);
  CHECK(test::largest_difference(columns(v2.normaliser, 0, shape.heads), expected.largest) == 0);
  const auto [least, most] = std::minmax_element(twin.score.begin(), twin.score.end());
  CHECK(*least < -200.0);
  CHECK(*most > 200.0);
  twin.differentiate(v2.dy, v2.l, twin.sum(v2.l));
  compare_v2_gradients(twin, v2, 3e-5, 0.0);
}

}  // namespace
}  // namespace halo::kernels
