// The row loops, written plainly; the compiler vectorises them for the instructions that HALO_TARGET (a
// function attribute) allows. Each instruction set includes this file once, inside an unnamed namespace, so
// that no code made for one CPU can be linked into the path of another. `omp simd` says that iterations are
// independent, which holds in place too.

// One long row if there is no gap between the rows.
template <typename T>
MatrixView<T> flat(MatrixView<T> a) {
  return {a.data, a.rows == 0 ? 0 : 1, a.rows * a.cols};
}
template <typename A, typename B>
bool no_gaps(MatrixView<A> a, MatrixView<B> b) {
  return a.stride == a.cols && b.stride == b.cols;
}

template <typename Real>
HALO_TARGET void scale_rows_loop(MatrixView<const Real> x, const Real* scale, MatrixView<Real> y) {
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const Real factor = scale[r];
    const Real* const from = x.row(r);
    Real* const to = y.row(r);
#pragma omp simd
    for (std::int64_t c = 0; c < x.cols; ++c) to[c] = factor * from[c];
  }
}

template <typename Real>
HALO_TARGET void add_loop(MatrixView<const Real> a, MatrixView<const Real> b, MatrixView<Real> y) {
  if (no_gaps(a, y) && no_gaps(b, y)) {
    a = flat(a);
    b = flat(b);
    y = flat(y);
  }
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const Real* const left = a.row(r);
    const Real* const right = b.row(r);
    Real* const to = y.row(r);
#pragma omp simd
    for (std::int64_t c = 0; c < a.cols; ++c) to[c] = left[c] + right[c];
  }
}

template <typename Real>
HALO_TARGET void add_bias_loop(MatrixView<const Real> x, const Real* bias, MatrixView<Real> y) {
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const Real* const from = x.row(r);
    Real* const to = y.row(r);
#pragma omp simd
    for (std::int64_t c = 0; c < x.cols; ++c) to[c] = from[c] + bias[c];
  }
}

template <typename Real>
HALO_TARGET void column_sums_loop(MatrixView<const Real> x, Real* sums) {
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const Real* const from = x.row(r);
#pragma omp simd
    for (std::int64_t c = 0; c < x.cols; ++c) sums[c] += from[c];
  }
}

template <typename Real>
HALO_TARGET void relu_loop(MatrixView<const Real> x, MatrixView<Real> y) {
  if (no_gaps(x, y)) {
    x = flat(x);
    y = flat(y);
  }
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const Real* const from = x.row(r);
    Real* const to = y.row(r);
    // A NaN is not <= 0 and stays, so that a broken run shows.
#pragma omp simd
    for (std::int64_t c = 0; c < x.cols; ++c) to[c] = from[c] <= 0 ? Real{0} : from[c];
  }
}

template <typename Real>
HALO_TARGET void relu_backward_loop(MatrixView<const Real> y, MatrixView<const Real> dy, Real scale,
                                    MatrixView<Real> dx) {
  if (no_gaps(y, dx) && no_gaps(dy, dx)) {
    y = flat(y);
    dy = flat(dy);
    dx = flat(dx);
  }
  for (std::int64_t r = 0; r < y.rows; ++r) {
    const Real* const out = y.row(r);
    const Real* const from = dy.row(r);
    Real* const to = dx.row(r);
#pragma omp simd
    for (std::int64_t c = 0; c < y.cols; ++c) {
      const Real value = from[c] * scale;
      to[c] = out[c] > 0 ? value : Real{0};
    }
  }
}

// Columns whose random bits are made together: few enough for the L1 cache.
inline constexpr std::int64_t kDropoutBlock = 256;

template <bool kRelu, typename Real>
HALO_TARGET void dropout_loop(MatrixView<const Real> x, std::span<const NodeId> ids, const CounterRng& rng,
                              Keep<Real> keep, MatrixView<Real> y) {
  alignas(64) std::uint32_t bits[static_cast<std::size_t>(kDropoutBlock)];
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const std::uint64_t key = rng.row_key(ids[static_cast<std::size_t>(r)]);
    for (std::int64_t first = 0; first < x.cols; first += kDropoutBlock) {
      const std::int64_t size = std::min(kDropoutBlock, x.cols - first);
      const std::uint64_t first_word = static_cast<std::uint64_t>(first) / 2;
      const std::uint64_t words = static_cast<std::uint64_t>(size + 1) / 2;
#pragma omp simd
      for (std::uint64_t w = 0; w < words; ++w) {
        const std::uint64_t word = CounterRng::word(key, first_word + w);
        bits[2 * w] = static_cast<std::uint32_t>(word);
        bits[2 * w + 1] = static_cast<std::uint32_t>(word >> 32);
      }
      const Real* const from = x.row(r) + first;
      Real* const to = y.row(r) + first;
#pragma omp simd
      for (std::int64_t c = 0; c < size; ++c) {
        const Real value = kRelu && from[c] <= 0 ? Real{0} : from[c] * keep.scale;
        to[c] = bits[c] >= keep.threshold ? value : Real{0};
      }
    }
  }
}

template <typename Real>
HALO_TARGET void pack_half_loop(MatrixView<const Real> x, MatrixView<Real> packed) {
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const Real* const from = x.row(r);
    auto* const to = reinterpret_cast<typename Half<Real>::Stored*>(packed.row(r));
#pragma omp simd
    for (std::int64_t c = 0; c < x.cols; ++c) to[c] = Half<Real>::round(from[c]);
    if (x.cols % 2 != 0) to[x.cols] = 0;
  }
}

template <typename Real>
HALO_TARGET void unpack_half_loop(MatrixView<const Real> packed, MatrixView<Real> x) {
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const auto* const from = reinterpret_cast<const typename Half<Real>::Stored*>(packed.row(r));
    Real* const to = x.row(r);
#pragma omp simd
    for (std::int64_t c = 0; c < x.cols; ++c) to[c] = Half<Real>::widen(from[c]);
  }
}

template <typename Real>
inline constexpr RowLoops<Real> kRowLoops{
    &scale_rows_loop<Real>, &add_loop<Real>,           &add_bias_loop<Real>,       &column_sums_loop<Real>,
    &relu_loop<Real>,       &relu_backward_loop<Real>, &dropout_loop<false, Real>, &dropout_loop<true, Real>,
    &pack_half_loop<Real>,  &unpack_half_loop<Real>};
