// The passes over edges, for both kinds of scores. Included after attention_edges.inl.

// e_ij,h = leaky(s_i,h + t_j,h), and how a score's gradient reaches s, t.
template <typename Real>
struct GatScores {
  Rows<Real> s;  ///< of targets
  Rows<Real> t;  ///< of sources
  std::int64_t heads;
  Real slope;

  HALO_INLINE void fill(const EdgeBlock& block, Real* scores) const {
    for (int e = 0; e < block.size; ++e) {
      const Real* const of_target = s.of(block.target[e]);
      const Real* const of_source = t.of(block.source[e]);
      Real* const score = scores + e * heads;
#pragma omp simd
      for (std::int64_t h = 0; h < heads; ++h) score[h] = leaky(of_target[h] + of_source[h], slope);
    }
  }
  /// True where leaky_relu multiplies by the slope.
  HALO_INLINE bool is_sloped(const EdgeBlock& block, int e, std::int64_t h) const {
    return !(s.of(block.target[e])[h] + t.of(block.source[e])[h] > Real{0});
  }
  /// sums_h += sum_e g_e,h leaky'(s + t), edges in order
  HALO_INLINE void add_gradients(const EdgeBlock& block, const Real* g, Real* sums) const {
    for (int e = 0; e < block.size; ++e) {
      const Real* const of_target = s.of(block.target[e]);
      const Real* const of_source = t.of(block.source[e]);
      const Real* const of_edge = g + e * heads;
#pragma omp simd
      for (std::int64_t h = 0; h < heads; ++h)
        sums[h] += of_edge[h] * leaky_gradient(of_target[h] + of_source[h], slope);
    }
  }
};

// e_ij,h = sum_c att_hc leaky(l_j,hc + r_i,hc)
template <typename Real>
struct V2Scores {
  const Real* att;
  Rows<Real> r;  ///< of targets
  Rows<Real> l;  ///< of sources
  std::int64_t heads;
  std::int64_t cols;  ///< per head
  Real slope;

  struct Term {
    const Real* att;
    const Real* r;
    const Real* l;
    Real slope;
    template <class T>
    HALO_INLINE void add(std::int64_t c, T& sum) const {
      T left, right, factor;
      load(l + c, left);
      load(r + c, right);
      load(att + c, factor);
      const T x = left + right;
      sum += factor * (x > Real{0} ? x : slope * x);
    }
  };
  HALO_INLINE void fill(const EdgeBlock& block, Real* scores) const {
    for (int e = 0; e < block.size; ++e) {
      const Real* const of_target = r.of(block.target[e]);
      const Real* const of_source = l.of(block.source[e]);
      for (std::int64_t h = 0; h < heads; ++h) {
        const std::int64_t first = h * cols;
        scores[e * heads + h] =
            lane_sum<Real>(Term{att + first, of_target + first, of_source + first, slope}, cols);
      }
    }
  }
  /// sums_hc += att_hc sum_e g_e,h leaky'(l + r), and d_att_hc += sum_e g_e,h leaky(l + r) unless it is null:
  /// the block's edges in order, then onto what is there.
  HALO_INLINE void add_gradients(const EdgeBlock& block, const Real* g, Real* sums, Real* d_att) const {
    for (std::int64_t h = 0; h < heads; ++h) {
      std::int64_t c = h * cols;
      for (; c + kLanes <= (h + 1) * cols; c += kLanes)
        add_columns<Lanes<Real>>(block, g + h, c, sums, d_att);
      for (; c < (h + 1) * cols; ++c) add_columns<Real>(block, g + h, c, sums, d_att);
    }
  }
  template <class T>
  HALO_INLINE void add_columns(const EdgeBlock& block, const Real* g, std::int64_t c, Real* sums,
                               Real* d_att) const {
    T through = {}, outputs = {}, factor, sum;
    for (int e = 0; e < block.size; ++e) {
      T left, right;
      load(l.of(block.source[e]) + c, left);
      load(r.of(block.target[e]) + c, right);
      const T x = left + right;
      const T of_edge = g[e * heads] - T{};
      const T with_slope = slope * of_edge;
      const T gradient = x > Real{0} ? of_edge : with_slope;
      through += gradient;
      if (d_att != nullptr) outputs += gradient * x;
    }
    load(att + c, factor);
    load(sums + c, sum);
    sum += factor * through;
    store(sum, sums + c);
    if (d_att == nullptr) return;
    load(d_att + c, sum);
    sum += outputs;
    store(sum, d_att + c);
  }
};

template <typename Real, class Scores>
HALO_INLINE void normaliser_pass(const Attention<Real>& in, const Scores& scores,
                                 MatrixView<Real> normaliser) {
  alignas(64) Real score[static_cast<std::size_t>(kBlockScores)];
  EdgeBlock block;
  for (std::int64_t i = in.rows.begin; i < in.rows.end; ++i) {
    RunningNormaliser<Real> running(in.heads);
    RowEdges<Real, true> edges(in, i);
    bool any = false;
    for (; edges.next(block); any = true) {
      scores.fill(block, score);
      running.add(score, block.size);
    }
    if (any) {
      running.result(normaliser.row(i));
    } else {
      std::fill_n(normaliser.row(i), normaliser.cols, Real{0});
    }
  }
}

// exp(e_ij,h - M_i,h) of a block.
template <typename Real, class Scores>
HALO_INLINE void fill_exps(const Scores& scores, const Rows<Real>& largest, const EdgeBlock& block,
                           std::int64_t heads, Real* exps) {
  scores.fill(block, exps);
  for (int e = 0; e < block.size; ++e) {
    const Real* const of_target = largest.of(block.target[e]);
    Real* const of_edge = exps + e * heads;
#pragma omp simd
    for (std::int64_t h = 0; h < heads; ++h) of_edge[h] -= of_target[h];
  }
  exp_all(exps, block.size * heads);
}

// What a target's own score gradient needs of the edges where leaky_relu multiplies by the slope:
// [sum of w exp(e - M) v | sum of exp(e - M)], the last columns of a row of attention_sum.
template <typename Real>
struct SlopedSums {
  const GatScores<Real>& scores;
  const Rows<Real>& values;
  std::int64_t cols;  ///< per head

  HALO_INLINE void add_exps(const EdgeBlock& block, const Real* exps, Real* sums) const {
    Real* const shares = sums + scores.heads * cols;
    for (int e = 0; e < block.size; ++e) {
      for (std::int64_t h = 0; h < scores.heads; ++h)
        shares[h] += scores.is_sloped(block, e, h) ? exps[e * scores.heads + h] : Real{0};
    }
  }
  HALO_INLINE void add_values(const EdgeBlock& block, const Real* coefficients, Real* sums) const {
    LocalId ids[static_cast<std::size_t>(kBlockEdges)];
    Real chosen[static_cast<std::size_t>(kBlockEdges)];
    for (std::int64_t h = 0; h < scores.heads; ++h) {
      int size = 0;
      for (int e = 0; e < block.size; ++e) {
        ids[size] = block.source[e];
        chosen[size] = coefficients[e * scores.heads + h];
        size += scores.is_sloped(block, e, h) ? 1 : 0;
      }
      add_rows_of_head<0>(values, ids, size, h * cols, cols, chosen, 1, sums + h * cols);
    }
  }
};
struct NoSlopedSums {
  template <typename Real>
  HALO_INLINE void add_exps(const EdgeBlock&, const Real*, Real*) const {}
  template <typename Real>
  HALO_INLINE void add_values(const EdgeBlock&, const Real*, Real*) const {}
};

template <typename Real, class Scores, class Sloped>
HALO_INLINE void sum_pass(const Attention<Real>& in, const Scores& scores, const Rows<Real>& values,
                          std::int64_t width, MatrixView<const Real> normaliser, const Sloped& sloped,
                          MatrixView<Real> y) {
  alignas(64) Real exps[static_cast<std::size_t>(kBlockScores)];
  alignas(64) Real factors[static_cast<std::size_t>(kBlockScores)];
  const Rows<Real> largest(normaliser, 0);
  const DropFactors<Real> drop(in);
  const std::int64_t cols = width / in.heads;
  EdgeBlock block;
  for (std::int64_t i = in.rows.begin; i < in.rows.end; ++i) {
    std::fill_n(y.row(i), y.cols, Real{0});
    RowEdges<Real, true> edges(in, i);
    while (edges.next(block)) {
      prefetch_rows(values, block.source, block.size, width);
      fill_exps(scores, largest, block, in.heads, exps);
      sloped.add_exps(block, exps, y.row(i) + width);
      if (drop.on()) {
        drop.fill(block, in.heads, factors);
#pragma omp simd
        for (std::int64_t k = 0; k < block.size * in.heads; ++k) exps[k] *= factors[k];
      }
      add_rows(values, block.source, block.size, in.heads, cols, exps, y.row(i));
      sloped.add_values(block, exps, y.row(i) + width);
    }
    scale_heads(y.row(i), normaliser.row(i) + in.heads, in.heads, cols, y.row(i));
  }
}

// What a block's edges carry back, the same from both ends of an edge. Gradients come in times q_i, as the
// pack holds them, so that exp(e_ij,h - M_i,h) stands for a_ij,h.
template <typename Real>
struct EdgeGradients {
  alignas(64) Real weighted[static_cast<std::size_t>(kBlockScores)];  ///< w_ij,h exp(e_ij,h - M_i,h)
  alignas(64) Real score[static_cast<std::size_t>(kBlockScores)];     ///< g_ij,h

  template <class Scores>
  HALO_INLINE void fill(const Scores& scores, const Rows<Real>& dy, const Rows<Real>& largest,
                        const Rows<Real>& d, const Rows<Real>& values, const DropFactors<Real>& drop,
                        const EdgeBlock& block, std::int64_t heads, std::int64_t cols) {
    alignas(64) Real factors[static_cast<std::size_t>(kBlockScores)];
    fill_exps(scores, largest, block, heads, weighted);
    for (int e = 0; e < block.size; ++e) {
      const Real* const of_target = dy.of(block.target[e]);
      const Real* const of_source = values.of(block.source[e]);
      for (std::int64_t h = 0; h < heads; ++h)
        score[e * heads + h] = dot(of_target + h * cols, of_source + h * cols, cols);
    }
    if (drop.on()) {
      drop.fill(block, heads, factors);
    } else {
      std::fill_n(factors, block.size * heads, Real{1});
    }
    for (int e = 0; e < block.size; ++e) {
      const Real* const of_target = d.of(block.target[e]);
#pragma omp simd
      for (std::int64_t h = 0; h < heads; ++h) {
        const std::int64_t k = e * heads + h;
        score[k] = weighted[k] * (factors[k] * score[k] - of_target[h]);
        weighted[k] *= factors[k];
      }
    }
  }
};

template <typename Real>
HALO_TARGET void normaliser_loop(const Attention<Real>& in, MatrixView<const Real> zts,
                                 MatrixView<Real> normaliser) {
  const std::int64_t width = zts.cols - 2 * in.heads;
  normaliser_pass(in, GatScores<Real>{{zts, width + in.heads}, {zts, width}, in.heads, in.slope}, normaliser);
  for (std::int64_t i = in.rows.begin; i < in.rows.end; ++i)
    std::copy_n(zts.row(i) + width + in.heads, in.heads, normaliser.row(i) + 2 * in.heads);
}

template <typename Real>
HALO_TARGET void sum_loop(const Attention<Real>& in, MatrixView<const Real> zts,
                          MatrixView<const Real> normaliser, MatrixView<Real> y) {
  const std::int64_t width = zts.cols - 2 * in.heads;
  const GatScores<Real> scores = {{zts, width + in.heads}, {zts, width}, in.heads, in.slope};
  const Rows<Real> values(zts, 0);
  if (y.cols == width) {
    sum_pass(in, scores, values, width, normaliser, NoSlopedSums{}, y);
  } else {
    const SlopedSums<Real> sloped = {scores, values, width / in.heads};
    sum_pass(in, scores, values, width, normaliser, sloped, y);
  }
}

template <typename Real>
HALO_TARGET void source_gradient_loop(const Attention<Real>& out, MatrixView<const Real> pack,
                                      MatrixView<const Real> zts, MatrixView<const Real> ds,
                                      MatrixView<Real> dzts) {
  const std::int64_t heads = out.heads;
  const std::int64_t width = zts.cols - 2 * heads;
  const Rows<Real> dy(pack, 0), largest(pack, width), d(pack, width + 2 * heads), z(zts, 0);
  const GatScores<Real> scores = {{pack, width + heads}, {zts, width}, heads, out.slope};
  const DropFactors<Real> drop(out);
  EdgeGradients<Real> gradients;
  EdgeBlock block;
  for (std::int64_t j = out.rows.begin; j < out.rows.end; ++j) {
    Real* const dz = dzts.row(j);
    Real* const dt = std::fill_n(dz, width, Real{0});
    std::copy_n(ds.row(j), heads, std::fill_n(dt, heads, Real{0}));
    RowEdges<Real, false> edges(out, j);
    while (edges.next(block)) {
      prefetch_rows(dy, block.target, block.size, width);
      gradients.fill(scores, dy, largest, d, z, drop, block, heads, width / heads);
      scores.add_gradients(block, gradients.score, dt);
      add_rows(dy, block.target, block.size, heads, width / heads, gradients.weighted, dz);
    }
  }
}

template <typename Real>
HALO_TARGET void v2_normaliser_loop(const Attention<Real>& in, const Real* att, MatrixView<const Real> l,
                                    MatrixView<const Real> r, MatrixView<Real> normaliser) {
  const V2Scores<Real> scores = {att, {r, 0}, {l, 0}, in.heads, l.cols / in.heads, in.slope};
  normaliser_pass(in, scores, normaliser);
}

template <typename Real>
HALO_TARGET void v2_sum_loop(const Attention<Real>& in, const Real* att, MatrixView<const Real> l,
                             MatrixView<const Real> r, MatrixView<const Real> normaliser,
                             MatrixView<Real> y) {
  const V2Scores<Real> scores = {att, {r, 0}, {l, 0}, in.heads, l.cols / in.heads, in.slope};
  sum_pass(in, scores, Rows<Real>(l, 0), y.cols, normaliser, NoSlopedSums{}, y);
}

// Both backward passes of GATv2. As the source: dl_j. As the target: dr_i, d_att.
template <bool kRowIsTarget, typename Real>
HALO_INLINE void v2_gradient_pass(const Attention<Real>& pass, const Real* att, MatrixView<const Real> pack,
                                  MatrixView<const Real> l, MatrixView<Real> dx, Real* d_att) {
  const std::int64_t heads = pass.heads;
  const std::int64_t width = l.cols;
  const Rows<Real> dy(pack, 0), largest(pack, 2 * width), d(pack, 2 * width + heads), values(l, 0);
  const V2Scores<Real> scores = {att, {pack, width}, values, heads, width / heads, pass.slope};
  const DropFactors<Real> drop(pass);
  EdgeGradients<Real> gradients;
  EdgeBlock block;
  for (std::int64_t row = pass.rows.begin; row < pass.rows.end; ++row) {
    std::fill_n(dx.row(row), width, Real{0});
    RowEdges<Real, kRowIsTarget> edges(pass, row);
    while (edges.next(block)) {
      prefetch_rows(kRowIsTarget ? values : dy, kRowIsTarget ? block.source : block.target, block.size,
                    kRowIsTarget ? width : 2 * width);
      gradients.fill(scores, dy, largest, d, values, drop, block, heads, width / heads);
      scores.add_gradients(block, gradients.score, dx.row(row), kRowIsTarget ? d_att : nullptr);
      if constexpr (!kRowIsTarget)
        add_rows(dy, block.target, block.size, heads, width / heads, gradients.weighted, dx.row(row));
    }
  }
}

template <typename Real>
HALO_TARGET void v2_source_gradient_loop(const Attention<Real>& out, const Real* att,
                                         MatrixView<const Real> pack, MatrixView<const Real> l,
                                         MatrixView<Real> dl) {
  v2_gradient_pass<false, Real>(out, att, pack, l, dl, nullptr);
}
template <typename Real>
HALO_TARGET void v2_target_gradient_loop(const Attention<Real>& in, const Real* att, MatrixView<const Real> l,
                                         MatrixView<const Real> pack, MatrixView<Real> dr, Real* d_att) {
  v2_gradient_pass<true, Real>(in, att, pack, l, dr, d_att);
}
