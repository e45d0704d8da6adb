// What all attention passes are made of: exp, sums over channels, blocks of edges, normalisers. Written
// plainly; the compiler vectorises for the instructions that HALO_TARGET (a function attribute) allows. Each
// instruction set includes this file once, inside an unnamed namespace, so that no code made for one CPU can
// be linked into the path of another.
//
// A row's edges are taken in blocks, so that exp runs over many scores at once even with a single head:
//
//   edges of row i:   j0 j1 j2 ... | ... | ... loop       (at most kBlockEdges, and kBlockScores scores)
//   scores of a block:  [edge][head]

inline constexpr int kBlockEdges = 32;
inline constexpr std::int64_t kBlockScores = 512;
static_assert(kBlockScores >= kMaxHeads);

template <typename Real>
struct ExpRange;  // 2^n is normal for every x in [lowest, highest]; shifter + n leaves n in the lowest bits
template <>
struct ExpRange<float> {
  using Word = std::uint32_t;
  static constexpr float kLowest = -87.0F, kHighest = 88.0F, kShifter = 0x1.8p23F;
  static constexpr float kPerLn2 = 0x1.715476p+0F, kLn2High = 0x1.63p-1F, kLn2Low = -0x1.bd0106p-13F;
  static constexpr int kMantissa = 23, kTerms = 7;
  static constexpr Word kOne = 0x3F800000U;
};
template <>
struct ExpRange<double> {
  using Word = std::uint64_t;
  static constexpr double kLowest = -708.0, kHighest = 709.0, kShifter = 0x1.8p52;
  static constexpr double kPerLn2 = 0x1.71547652b82fep+0, kLn2High = 0x1.62e42feep-1,
                          kLn2Low = 0x1.a39ef35793c76p-33;
  static constexpr int kMantissa = 52, kTerms = 13;
  static constexpr Word kOne = 0x3FF0000000000000U;
};

// 1 + r/1 (1 + r/2 (1 + ...)) with the factors 1/k! multiplied out.
template <typename Real, int kTerm = 0>
HALO_INLINE Real exp_series(Real r, double coefficient = 1.0) {
  const auto c = static_cast<Real>(coefficient);
  if constexpr (kTerm == ExpRange<Real>::kTerms) {
    return c;
  } else {
    return c + r * exp_series<Real, kTerm + 1>(r, coefficient / (kTerm + 1));
  }
}

// x_k = exp(x_k), to about one unit in the last place; 0 below the range of normal numbers, NaN stays. Made
// of additions, products and shifts alone: vectors at any width give the same bits, which libm does not
// promise.
template <typename Real>
HALO_INLINE void exp_all(Real* x, std::int64_t count) {
  using Range = ExpRange<Real>;
  using Word = typename Range::Word;
#pragma omp simd
  for (std::int64_t k = 0; k < count; ++k) {
    const Real above = x[k] < Range::kLowest ? Range::kLowest : x[k];
    const Real value = above > Range::kHighest ? Range::kHighest : above;
    const Real shifted = value * Range::kPerLn2 + Range::kShifter;
    const Real n = shifted - Range::kShifter;
    const Real rest = (value - n * Range::kLn2High) - n * Range::kLn2Low;
    const Word power = (std::bit_cast<Word>(shifted) << Range::kMantissa) + Range::kOne;
    const Real result = exp_series<Real>(rest) * std::bit_cast<Real>(power);
    x[k] = x[k] < Range::kLowest ? Real{0} : result;
  }
}

template <typename Real>
HALO_INLINE Real leaky(Real x, Real slope) {
  return x > 0 ? x : slope * x;
}
template <typename Real>
HALO_INLINE Real leaky_gradient(Real x, Real slope) {
  return x > 0 ? Real{1} : slope;
}

// Eight numbers. GCC and Clang make of it what the instruction set has; operators act lane by lane.
inline constexpr int kLanes = 8;
template <typename Real>
struct LanesOf {
  typedef Real Type __attribute__((vector_size(kLanes * sizeof(Real))));
};
template <typename Real>
using Lanes = typename LanesOf<Real>::Type;

// T: Real, or its Lanes. By reference: wide vectors as arguments depend on the instruction set.
template <class T, typename Real>
HALO_INLINE void load(const Real* from, T& value) {
  __builtin_memcpy(&value, from, sizeof(value));
}
template <class T, typename Real>
HALO_INLINE void store(const T& value, Real* to) {
  __builtin_memcpy(to, &value, sizeof(value));
}

// sum_c term(c) over c in [0, count): eight partial sums side by side, halves onto halves, then the rest in
// order. The shape depends on the count alone. term.add(c, sum) adds as many terms from c on as `sum` holds.
template <typename Real, class Term>
HALO_INLINE Real lane_sum(const Term& term, std::int64_t count) {
  Lanes<Real> sums = {};
  std::int64_t c = 0;
  for (; c + kLanes <= count; c += kLanes) term.add(c, sums);
  Real sum = ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
  for (; c < count; ++c) term.add(c, sum);
  return sum;
}

template <typename Real>
struct ProductTerm {
  const Real* a;
  const Real* b;
  template <class T>
  HALO_INLINE void add(std::int64_t c, T& sum) const {
    T left, right;
    load(a + c, left);
    load(b + c, right);
    sum += left * right;
  }
};
template <typename Real>
HALO_INLINE Real dot(const Real* a, const Real* b, std::int64_t count) {
  return lane_sum<Real>(ProductTerm<Real>{a, b}, count);
}

// Some columns of a matrix, by row.
template <typename Real>
struct Rows {
  const Real* first;
  std::int64_t stride;
  Rows(MatrixView<const Real> matrix, std::int64_t column)
      : first(matrix.data + column), stride(matrix.stride) {}
  HALO_INLINE const Real* of(LocalId row) const { return first + row * stride; }
};

struct EdgeBlock {
  int size = 0;
  LocalId target[static_cast<std::size_t>(kBlockEdges)];
  LocalId source[static_cast<std::size_t>(kBlockEdges)];
};

// Walks the edges of one row, the added loop last.
template <typename Real, bool kRowIsTarget>
class RowEdges {
 public:
  HALO_INLINE RowEdges(const Attention<Real>& pass, std::int64_t row)
      : columns_(pass.columns),
        row_(static_cast<LocalId>(row)),
        next_(pass.indptr[row]),
        end_(pass.indptr[row + 1]),
        loop_(pass.loop != nullptr && pass.loop[row] != 0.0F),
        most_(static_cast<int>(std::min<std::int64_t>(kBlockEdges, kBlockScores / pass.heads))) {}
  /// False at the end of the row.
  HALO_INLINE bool next(EdgeBlock& block) {
    LocalId* const own = kRowIsTarget ? block.target : block.source;
    LocalId* const other = kRowIsTarget ? block.source : block.target;
    block.size = 0;
    for (; next_ < end_ && block.size < most_; ++next_) other[block.size++] = columns_[next_];
    if (next_ == end_ && loop_ && block.size < most_) {
      other[block.size++] = row_;
      loop_ = false;
    }
    for (int e = 0; e < block.size; ++e) own[e] = row_;
    return block.size > 0;
  }

 private:
  const LocalId* columns_;
  LocalId row_;
  EdgeId next_;
  EdgeId end_;
  bool loop_;
  int most_;
};

// Asks for rows that a block is about to read: they are scattered, so the hardware cannot guess them.
template <typename Real>
HALO_INLINE void prefetch_rows(const Rows<Real>& rows, const LocalId* ids, int size, std::int64_t cols) {
  constexpr std::int64_t kLine = 64 / static_cast<std::int64_t>(sizeof(Real));
  for (int e = 0; e < size; ++e) {
    for (std::int64_t c = 0; c < cols; c += kLine) __builtin_prefetch(rows.of(ids[e]) + c);
  }
}

// y_c += sum_e coefficient_e x_e,c over the edges in order; coefficients lie `heads` apart.
template <int kCols, typename Real>
HALO_INLINE void add_rows_of_head(const Rows<Real>& x, const LocalId* ids, int size, std::int64_t column,
                                  std::int64_t cols_if_unknown, const Real* coefficient, std::int64_t heads,
                                  Real* y) {
  const std::int64_t cols = kCols > 0 ? kCols : cols_if_unknown;
  int e = 0;
  for (; e + 4 <= size; e += 4) {  // four at a time: y is read and written once for all
    const Real* const x0 = x.of(ids[e]) + column;
    const Real* const x1 = x.of(ids[e + 1]) + column;
    const Real* const x2 = x.of(ids[e + 2]) + column;
    const Real* const x3 = x.of(ids[e + 3]) + column;
    const Real* const w = coefficient + e * heads;
    const Real w0 = w[0], w1 = w[heads], w2 = w[2 * heads], w3 = w[3 * heads];
#pragma omp simd
    for (std::int64_t c = 0; c < cols; ++c)
      y[c] = (((y[c] + w0 * x0[c]) + w1 * x1[c]) + w2 * x2[c]) + w3 * x3[c];
  }
  for (; e < size; ++e) {
    const Real* const x0 = x.of(ids[e]) + column;
    const Real w0 = coefficient[e * heads];
#pragma omp simd
    for (std::int64_t c = 0; c < cols; ++c) y[c] += w0 * x0[c];
  }
}

// y_h += sum_e coefficient_e,h x_e,h for every head of `cols` channels.
template <typename Real>
HALO_INLINE void add_rows(const Rows<Real>& x, const LocalId* ids, int size, std::int64_t heads,
                          std::int64_t cols, const Real* coefficients, Real* y) {
  for (std::int64_t h = 0; h < heads; ++h) {
    if (cols == 8) {
      add_rows_of_head<8>(x, ids, size, h * cols, cols, coefficients + h, heads, y + h * cols);
    } else {
      add_rows_of_head<0>(x, ids, size, h * cols, cols, coefficients + h, heads, y + h * cols);
    }
  }
}

// to_h = factor_h from_h for every head of `cols` channels; may be the same row.
template <typename Real>
HALO_INLINE void scale_heads(const Real* from, const Real* factors, std::int64_t heads, std::int64_t cols,
                             Real* to) {
  for (std::int64_t h = 0; h < heads; ++h) {
    const Real factor = factors[h];
#pragma omp simd
    for (std::int64_t c = h * cols; c < (h + 1) * cols; ++c) to[c] = factor * from[c];
  }
}

// What dropout multiplies coefficients by: 0, or 1 / (1 - p). The same from both ends of an edge.
template <typename Real>
class DropFactors {
 public:
  HALO_INLINE explicit DropFactors(const Attention<Real>& pass)
      : rng_(pass.rng),
        id_(pass.id),
        keep_(keep_of<Real>(pass.dropout).value_or(Keep<Real>{0, Real{0}})),  // nothing stays: all times 0
        on_(pass.dropout > 0.0) {}
  HALO_INLINE bool on() const { return on_; }
  /// factors[edge][head] of a block
  HALO_INLINE void fill(const EdgeBlock& block, std::int64_t heads, Real* factors) const {
    for (int e = 0; e < block.size; ++e) {
      const std::uint64_t edge_key = CounterRng::word(rng_.row_key(id_[block.target[e]]),
                                                      static_cast<std::uint64_t>(id_[block.source[e]]));
      Real* const of_edge = factors + e * heads;
#pragma omp simd
      for (std::int64_t h = 0; h < heads; ++h) {
        const std::uint64_t word = CounterRng::word(edge_key, static_cast<std::uint64_t>(h) / 2);
        const auto bits = static_cast<std::uint32_t>(word >> (32 * (h % 2)));
        of_edge[h] = bits >= keep_.threshold ? keep_.scale : Real{0};
      }
    }
  }

 private:
  CounterRng rng_;
  const NodeId* id_;
  Keep<Real> keep_;
  bool on_;
};

// [M_i | q_i]: a running maximum, and the sum of exp relative to it, rescaled when it rises.
template <typename Real>
class RunningNormaliser {
 public:
  HALO_INLINE explicit RunningNormaliser(std::int64_t heads) : heads_(heads) {
    std::fill_n(largest_, heads, -std::numeric_limits<Real>::infinity());
    std::fill_n(sum_, heads, Real{0});
  }
  HALO_INLINE void add(Real* scores, int edges) {
    Real rescale[static_cast<std::size_t>(kMaxHeads)];
    std::int64_t h = 0;
    for (; h + kLanes <= heads_; h += kLanes) raise_largest<Lanes<Real>>(scores, edges, h, rescale);
    for (; h < heads_; ++h) raise_largest<Real>(scores, edges, h, rescale);
    exp_all(rescale, heads_);
    exp_all(scores, edges * heads_);
    for (h = 0; h + kLanes <= heads_; h += kLanes) add_up<Lanes<Real>>(scores, edges, h, rescale);
    for (; h < heads_; ++h) add_up<Real>(scores, edges, h, rescale);
  }
  HALO_INLINE void result(Real* normaliser) const {
    Real* const scale = std::copy_n(largest_, heads_, normaliser);
#pragma omp simd
    for (std::int64_t h = 0; h < heads_; ++h) scale[h] = Real{1} / sum_[h];
  }

 private:
  // For the heads from h on that T holds: largest_ with the scores, its change, scores relative to it.
  template <class T>
  HALO_INLINE void raise_largest(Real* scores, int edges, std::int64_t h, Real* change) {
    T before, score;
    load(largest_ + h, before);
    T largest = before;
    for (int e = 0; e < edges; ++e) {
      load(scores + e * heads_ + h, score);
      largest = score > largest ? score : largest;
    }
    for (int e = 0; e < edges; ++e) {
      load(scores + e * heads_ + h, score);
      score -= largest;
      store(score, scores + e * heads_ + h);
    }
    before -= largest;
    store(before, change + h);
    store(largest, largest_ + h);
  }
  template <class T>
  HALO_INLINE void add_up(const Real* exps, int edges, std::int64_t h, const Real* rescale) {
    T sum, factor, term;
    load(sum_ + h, sum);
    load(rescale + h, factor);
    sum *= factor;
    for (int e = 0; e < edges; ++e) {
      load(exps + e * heads_ + h, term);
      sum += term;
    }
    store(sum, sum_ + h);
  }

  std::int64_t heads_;
  Real largest_[static_cast<std::size_t>(kMaxHeads)];
  Real sum_[static_cast<std::size_t>(kMaxHeads)];
};
