// The loops of the neighbour maximum, written plainly; the compiler vectorises them for the instructions that
// HALO_TARGET (a function attribute) allows. Each instruction set includes this file once, inside an unnamed
// namespace, so that no code made for one CPU can be linked into the path of another.

// Edges whose rows are asked for ahead of their use: they are scattered, so the hardware cannot guess them.
inline constexpr EdgeId kEdgesAhead = 8;

template <typename Real>
HALO_TARGET inline __attribute__((always_inline)) void prefetch_ahead(const NeighbourEdges& edges,
                                                                      EdgeId edge, MatrixView<const Real> x) {
  constexpr std::int64_t kLine = 64 / static_cast<std::int64_t>(sizeof(Real));
  const EdgeId ahead = std::min(edge + kEdgesAhead, edges.indptr[edges.rows.end] - 1);
  const Real* const row = x.row(edges.columns[ahead]);
  for (std::int64_t c = 0; c < x.cols; c += kLine) __builtin_prefetch(row + c);
}

template <typename Real>
HALO_TARGET void largest_loop(const NeighbourEdges& in, MatrixView<const Real> x, MatrixView<Real> y) {
  for (std::int64_t i = in.rows.begin; i < in.rows.end; ++i) {
    Real* const to = y.row(i);
    const EdgeId begin = in.indptr[i];
    const EdgeId end = in.indptr[i + 1];
    if (begin == end) {
      std::fill_n(to, y.cols, Real{0});
      continue;
    }
    std::copy_n(x.row(in.columns[begin]), y.cols, to);
    for (EdgeId e = begin + 1; e < end; ++e) {
      prefetch_ahead(in, e, x);
      const Real* const from = x.row(in.columns[e]);
#pragma omp simd
      for (std::int64_t c = 0; c < y.cols; ++c) {
        const bool stays = (from[c] <= to[c]) | (to[c] != to[c]);  // a NaN is not <= and is not replaced
        to[c] = stays ? to[c] : from[c];
      }
    }
  }
}

template <typename Real>
HALO_TARGET void share_loop(const NeighbourEdges& in, MatrixView<const Real> x, MatrixView<const Real> y,
                            MatrixView<const Real> dy, MatrixView<Real> shares) {
  for (std::int64_t i = in.rows.begin; i < in.rows.end; ++i) {
    const Real* const largest = y.row(i);
    const Real* const gradient = dy.row(i);
    Real* const ties = std::copy_n(largest, y.cols, shares.row(i));
    std::fill_n(ties, y.cols, Real{0});
    for (EdgeId e = in.indptr[i]; e < in.indptr[i + 1]; ++e) {
      prefetch_ahead(in, e, x);
      const Real* const from = x.row(in.columns[e]);
#pragma omp simd
      for (std::int64_t c = 0; c < y.cols; ++c) ties[c] += from[c] == largest[c] ? Real{1} : Real{0};
    }
#pragma omp simd
    for (std::int64_t c = 0; c < y.cols; ++c) ties[c] = ties[c] > 0 ? gradient[c] / ties[c] : Real{0};
  }
}

template <typename Real>
HALO_TARGET void gradient_loop(const NeighbourEdges& out, MatrixView<const Real> shares,
                               MatrixView<const Real> x, MatrixView<Real> dx) {
  for (std::int64_t j = out.rows.begin; j < out.rows.end; ++j) {
    const Real* const own = x.row(j);
    Real* const to = dx.row(j);
    std::fill_n(to, dx.cols, Real{0});
    for (EdgeId e = out.indptr[j]; e < out.indptr[j + 1]; ++e) {
      prefetch_ahead(out, e, shares);
      const Real* const largest = shares.row(out.columns[e]);
      const Real* const share = largest + dx.cols;
#pragma omp simd
      for (std::int64_t c = 0; c < dx.cols; ++c) to[c] += largest[c] == own[c] ? share[c] : Real{0};
    }
  }
}

template <typename Real>
inline constexpr NeighbourMaxLoops<Real> kNeighbourMaxLoops{&largest_loop<Real>, &share_loop<Real>,
                                                            &gradient_loop<Real>};
