#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "halo/kernels/attention.hpp"
#include "matrices.hpp"

namespace halo::test {

/// A small graph by its in-edges and its out-edges, with loops to add where the graph has none.
struct BothWays {
  std::int64_t nodes = 0;
  std::vector<EdgeId> in_indptr{0}, out_indptr{0};
  std::vector<LocalId> in_columns, out_columns;
  std::vector<float> loop;
  std::vector<NodeId> id;  ///< original ids: any numbers

  explicit BothWays(const std::vector<std::vector<LocalId>>& in_neighbours)
      : nodes(static_cast<std::int64_t>(in_neighbours.size())) {
    std::vector<std::vector<LocalId>> out(in_neighbours.size());
    for (std::size_t i = 0; i < in_neighbours.size(); ++i) {
      bool has_loop = false;
      for (const LocalId j : in_neighbours[i]) {
        in_columns.push_back(j);
        out[static_cast<std::size_t>(j)].push_back(static_cast<LocalId>(i));
        has_loop = has_loop || j == static_cast<LocalId>(i);
      }
      in_indptr.push_back(static_cast<EdgeId>(in_columns.size()));
      loop.push_back(has_loop ? 0.0F : 1.0F);
      id.push_back(static_cast<NodeId>((i * 7919 + 13) % 100003));
    }
    for (const auto& row : out) {
      out_columns.insert(out_columns.end(), row.begin(), row.end());
      out_indptr.push_back(static_cast<EdgeId>(out_columns.size()));
    }
  }

  template <typename Real>
  kernels::Attention<Real> pass(bool in, bool loops, std::int64_t heads, double dropout = 0.0) const {
    kernels::Attention<Real> pass;
    pass.indptr = (in ? in_indptr : out_indptr).data();
    pass.columns = (in ? in_columns : out_columns).data();
    pass.loop = loops ? loop.data() : nullptr;
    pass.rows = {0, nodes};
    pass.heads = heads;
    pass.dropout = dropout;
    pass.rng = CounterRng(3, 1, 4);
    pass.id = dropout > 0.0 ? id.data() : nullptr;
    return pass;
  }
};

/// The largest score of each row and head, and 1 / the sum of exp relative to it.
struct Normaliser {
  Matrix<double> largest, q;
};

/// Attention by its definition: one list of edges, one number for each edge and head, all in double. Only GAT's
/// s + t is added in Real by those who hand in the scores, because exp magnifies what rounding does to it.
template <typename Real>
struct AttentionTwin {
  const kernels::Attention<Real>& in;
  std::int64_t nodes;
  std::int64_t cols;  ///< per head
  std::vector<std::int64_t> target, source;
  std::vector<double> score, a, w, g;  ///< [edge][head]

  AttentionTwin(const kernels::Attention<Real>& pass, std::int64_t cols_per_head)
      : in(pass), nodes(pass.rows.end), cols(cols_per_head) {
    for (std::int64_t i = 0; i < nodes; ++i) {
      for (EdgeId e = in.indptr[i]; e < in.indptr[i + 1]; ++e) add_edge(i, in.columns[e]);
      if (in.loop != nullptr && in.loop[i] != 0.0F) add_edge(i, i);
    }
    w.assign(target.size() * static_cast<std::size_t>(in.heads), 1.0);
    for (std::size_t e = 0; e < target.size() && in.dropout > 0.0; ++e) {
      for (std::int64_t h = 0; h < in.heads; ++h) {
        const std::uint64_t key =
            CounterRng::word(in.rng.row_key(in.id[target[e]]), static_cast<std::uint64_t>(in.id[source[e]]));
        const double bits = CounterRng::column_bits(key, static_cast<std::uint64_t>(h));
        w[at(e, h)] = bits >= in.dropout * 0x1.0p32 ? 1.0 / (1.0 - in.dropout) : 0.0;
      }
    }
  }
  void add_edge(std::int64_t i, std::int64_t j) {
    target.push_back(i);
    source.push_back(j);
  }
  std::size_t at(std::size_t e, std::int64_t h) const {
    return e * static_cast<std::size_t>(in.heads) + static_cast<std::size_t>(h);
  }
  double leaky(double x) const { return x > 0 ? x : static_cast<double>(in.slope) * x; }
  double leaky_gradient(double x) const { return x > 0 ? 1.0 : static_cast<double>(in.slope); }

  /// score(e, h) -> M, q, a
  template <class Score>
  Normaliser normalise(const Score& score_of) {
    score.assign(w.size(), 0.0);
    a = score;
    Normaliser normaliser{Matrix<double>(nodes, in.heads), Matrix<double>(nodes, in.heads)};
    normaliser.largest.fill(0);
    normaliser.q.fill(0);
    for (std::int64_t h = 0; h < in.heads; ++h) {
      std::vector<double> largest(static_cast<std::size_t>(nodes), -INFINITY), sum(largest.size(), 0.0);
      for (std::size_t e = 0; e < target.size(); ++e) {
        score[at(e, h)] = score_of(e, h);
        double& most = largest[static_cast<std::size_t>(target[e])];
        most = std::max(most, score[at(e, h)]);
      }
      for (std::size_t e = 0; e < target.size(); ++e) {
        const auto i = static_cast<std::size_t>(target[e]);
        sum[i] += std::exp(score[at(e, h)] - largest[i]);
        normaliser.largest(target[e], h) = largest[i];
        normaliser.q(target[e], h) = 1.0 / sum[i];
      }
      for (std::size_t e = 0; e < target.size(); ++e) {
        const auto i = static_cast<std::size_t>(target[e]);
        a[at(e, h)] = std::exp(score[at(e, h)] - largest[i]) / sum[i];
      }
    }
    return normaliser;
  }
  /// y from a, w
  Matrix<double> sum(const Matrix<Real>& values) const {
    Matrix<double> y(nodes, in.heads * cols);
    y.fill(0);
    for_each([&](std::size_t e, std::int64_t h, std::int64_t c) {
      y(target[e], c) += w[at(e, h)] * a[at(e, h)] * static_cast<double>(values(source[e], c));
    });
    return y;
  }
  /// q dy
  Matrix<double> scaled(const Matrix<Real>& dy, const Matrix<double>& q) const {
    Matrix<double> scaled(nodes, in.heads * cols);
    for (std::int64_t i = 0; i < nodes; ++i) {
      for (std::int64_t c = 0; c < in.heads * cols; ++c)
        scaled(i, c) = q(i, c / cols) * static_cast<double>(dy(i, c));
    }
    return scaled;
  }
  /// g from a, w, y = sum(values)
  void differentiate(const Matrix<Real>& dy, const Matrix<Real>& values, const Matrix<double>& y) {
    g.assign(w.size(), 0.0);
    for_each([&](std::size_t e, std::int64_t h, std::int64_t c) {
      const double weighted = w[at(e, h)] * static_cast<double>(values(source[e], c));
      g[at(e, h)] += a[at(e, h)] * static_cast<double>(dy(target[e], c)) * (weighted - y(target[e], c));
    });
  }
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t e = 0; e < target.size(); ++e) {
      for (std::int64_t c = 0; c < in.heads * cols; ++c) visit(e, c / cols, c);
    }
  }
};

/// Degrees 0, 1, 2, ..., one beyond several blocks; loops, duplicates, nodes that nobody reads.
inline BothWays awkward_graph() {
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

/// What a comparison is made for.
struct Shape {
  std::int64_t heads;
  std::int64_t cols;
  double size;  ///< of the scores
  double dropout;
  bool loops;
};

inline std::vector<Shape> shapes() {
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
inline constexpr double kTolerance = sizeof(Real) == 4 ? 5e-6 : 1e-13;

template <typename Real>
Matrix<Real> columns(const Matrix<Real>& x, std::int64_t begin, std::int64_t size) {
  Matrix<Real> part(x.view().rows, size);
  for (std::int64_t r = 0; r < x.view().rows; ++r) {
    for (std::int64_t c = 0; c < size; ++c) part(r, c) = x(r, begin + c);
  }
  return part;
}

/// Largest difference, relative to the largest absolute value of `expected` (at least `least_scale`).
template <typename Real>
double largest_difference(const Matrix<Real>& found, const Matrix<double>& expected,
                          double least_scale = 1.0) {
  double difference = 0.0;
  double scale = least_scale;
  for (std::int64_t r = 0; r < expected.view().rows; ++r) {
    for (std::int64_t c = 0; c < expected.view().cols; ++c) {
      const double d = std::abs(static_cast<double>(found(r, c)) - expected(r, c));
      if (!(d <= difference)) difference = d;  // a NaN stays
      scale = std::max(scale, std::abs(expected(r, c)));
    }
  }
  return difference / scale;
}

}  // namespace halo::test
