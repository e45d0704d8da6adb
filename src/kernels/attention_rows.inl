// The row-local loops of attention and the table of all. Included after attention_passes.inl.

template <typename Real>
HALO_TARGET void scores_loop(MatrixView<const Real> z, const Real* att_src, const Real* att_dst,
                             std::int64_t heads, MatrixView<Real> zts) {
  const std::int64_t cols = z.cols / heads;
  for (std::int64_t r = 0; r < z.rows; ++r) {
    const Real* const from = z.row(r);
    Real* const to = zts.row(r);
    std::copy_n(from, z.cols, to);
    for (std::int64_t h = 0; h < heads; ++h) {
      to[z.cols + h] = dot(att_src + h * cols, from + h * cols, cols);
      to[z.cols + heads + h] = dot(att_dst + h * cols, from + h * cols, cols);
    }
  }
}

template <typename Real>
HALO_TARGET void scores_gradient_loop(MatrixView<const Real> zts, MatrixView<const Real> dzts,
                                      const Real* att_src, const Real* att_dst, std::int64_t heads,
                                      MatrixView<Real> dz, Real* d_att_src, Real* d_att_dst) {
  const std::int64_t cols = dz.cols / heads;
  for (std::int64_t row = 0; row < dz.rows; ++row) {
    const Real* const z = zts.row(row);
    const Real* const from = dzts.row(row);
    Real* const to = dz.row(row);
    for (std::int64_t h = 0; h < heads; ++h) {
      const Real dt = from[dz.cols + h];
      const Real ds = from[dz.cols + heads + h];
#pragma omp simd
      for (std::int64_t c = h * cols; c < (h + 1) * cols; ++c) {
        d_att_src[c] += dt * z[c];
        d_att_dst[c] += ds * z[c];
        to[c] = from[c] + (dt * att_src[c] + ds * att_dst[c]);
      }
    }
  }
}

// q dy, and q D = <q dy, y> by head: summed as the passes sum q dy times a neighbour's row, so that the two
// cancel to 0 where one coefficient is 1 and y is that row.
template <typename Real>
HALO_INLINE void fill_scaled(const Real* dy, const Real* y, const Real* q, std::int64_t heads,
                             std::int64_t cols, Real* q_dy, Real* q_d) {
  scale_heads(dy, q, heads, cols, q_dy);
  for (std::int64_t h = 0; h < heads; ++h) q_d[h] = dot(q_dy + h * cols, y + h * cols, cols);
}

template <typename Real>
HALO_TARGET void pack_loop(MatrixView<const Real> dy, MatrixView<const Real> y,
                           MatrixView<const Real> normaliser, std::int64_t heads, MatrixView<Real> pack) {
  for (std::int64_t r = 0; r < dy.rows; ++r) {
    const Real* const largest = normaliser.row(r);
    Real* const to = pack.row(r);
    Real* const behind = std::copy_n(largest, heads, to + dy.cols);
    std::copy_n(largest + 2 * heads, heads, behind);  // s
    fill_scaled(dy.row(r), y.row(r), largest + heads, heads, dy.cols / heads, to, behind + heads);
  }
}

template <typename Real>
HALO_TARGET void target_gradient_loop(MatrixView<const Real> pack, MatrixView<const Real> y,
                                      std::int64_t heads, Real slope, MatrixView<Real> ds) {
  const std::int64_t width = pack.cols - 3 * heads;
  const std::int64_t cols = width / heads;
  for (std::int64_t r = 0; r < pack.rows; ++r) {
    const Real* const q_dy = pack.row(r);
    const Real* const q_d = q_dy + width + 2 * heads;
    const Real* const sloped = y.row(r) + width;
    for (std::int64_t h = 0; h < heads; ++h) {
      const Real through_values = dot(q_dy + h * cols, sloped + h * cols, cols);
      ds.row(r)[h] = (slope - Real{1}) * (through_values - q_d[h] * sloped[width + h]);
    }
  }
}

template <typename Real>
HALO_TARGET void v2_pack_loop(MatrixView<const Real> dy, MatrixView<const Real> y,
                              MatrixView<const Real> right, MatrixView<const Real> normaliser,
                              std::int64_t heads, MatrixView<Real> pack) {
  for (std::int64_t r = 0; r < dy.rows; ++r) {
    const Real* const largest = normaliser.row(r);
    Real* const to = pack.row(r);
    Real* const behind = std::copy_n(right.row(r), dy.cols, to + dy.cols);
    std::copy_n(largest, heads, behind);
    fill_scaled(dy.row(r), y.row(r), largest + heads, heads, dy.cols / heads, to, behind + heads);
  }
}

template <typename Real>
inline constexpr AttentionLoops<Real> kAttentionLoops{&scores_loop<Real>,
                                                      &scores_gradient_loop<Real>,
                                                      &normaliser_loop<Real>,
                                                      &sum_loop<Real>,
                                                      &pack_loop<Real>,
                                                      &target_gradient_loop<Real>,
                                                      &source_gradient_loop<Real>,
                                                      &v2_normaliser_loop<Real>,
                                                      &v2_sum_loop<Real>,
                                                      &v2_pack_loop<Real>,
                                                      &v2_source_gradient_loop<Real>,
                                                      &v2_target_gradient_loop<Real>};
