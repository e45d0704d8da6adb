// The neighbour sum over an abstract vector. Each instruction set includes this file once, inside an unnamed
// namespace (so that no code made for one CPU can be linked into the path of another), after defining
//   HALO_TARGET   the function attribute that allows its instructions,
//   a Vector for float and one for double: Real, Stored (what x holds), Register, Mask, kLanes, kMaxVectors
//   and the operations used below; and one for each with numbers of half width in x.
//
// A block of up to kMaxVectors registers holds part of y_i for the whole row, so each neighbour's row is read
// once:
//
//   columns of row i:     j0     j1     j2     j3  ...     j(e + distance)
//   acc[0 .. kVectors) += x_j0   x_j1   x_j2   x_j3        prefetch all cache lines of that row's block
//
// Rows of x are scattered, so the hardware cannot guess them; the column list of the coming edges tells.

// Cache lines asked for ahead of their use, and the fewest edges they stand for.
inline constexpr EdgeId kLinesAhead = 128;
inline constexpr EdgeId kEdgesAhead = 4;

template <class Vector, int kVectors>
HALO_TARGET inline __attribute__((always_inline)) void prefetch_block(const typename Vector::Stored* block) {
  constexpr int kBytes = kVectors * Vector::kLanes * static_cast<int>(sizeof(typename Vector::Stored));
  const char* const bytes = reinterpret_cast<const char*>(block);
#pragma GCC unroll 32
  for (int offset = 0; offset < kBytes; offset += 64) __builtin_prefetch(bytes + offset);
  __builtin_prefetch(bytes + kBytes - 1);  // a row need not start on a cache line
}

// acc += weight row; the last vector reads `tail` lanes only. A product and a sum, never a fused one.
template <class Vector, int kVectors, bool kWeighted>
HALO_TARGET inline __attribute__((always_inline)) void add_block(typename Vector::Register* acc,
                                                                 const typename Vector::Stored* row,
                                                                 typename Vector::Real weight,
                                                                 typename Vector::Mask tail) {
#pragma GCC unroll 32
  for (int v = 0; v < kVectors; ++v) {
    const auto* const part = row + v * Vector::kLanes;
    auto value = v + 1 < kVectors ? Vector::load(part) : Vector::load_part(part, tail);
    if constexpr (kWeighted) value = Vector::multiply(Vector::broadcast(weight), value);
    acc[v] = Vector::add(acc[v], value);
  }
}

template <class Vector, int kVectors>
HALO_TARGET inline __attribute__((always_inline)) void store_block(typename Vector::Register* acc,
                                                                   typename Vector::Real* out,
                                                                   typename Vector::Mask tail) {
#pragma GCC unroll 32
  for (int v = 0; v < kVectors - 1; ++v) Vector::store(out + v * Vector::kLanes, acc[v]);
  Vector::store_part(out + (kVectors - 1) * Vector::kLanes, acc[kVectors - 1], tail);
}

// Columns [first, first + (kVectors - 1) kLanes + tail_lanes) of all rows.
template <class Vector, int kVectors, bool kWeighted>
HALO_TARGET void sum_block(const NeighbourSum<typename Vector::Real>& sum, std::int64_t first,
                           int tail_lanes) {
  using Real = typename Vector::Real;
  using Stored = typename Vector::Stored;
  constexpr auto kBlockBytes = static_cast<EdgeId>(kVectors * Vector::kLanes * sizeof(Stored));
  constexpr EdgeId kDistance = std::max(kEdgesAhead, kLinesAhead * 64 / std::max<EdgeId>(kBlockBytes, 64));
  const auto tail = Vector::mask(tail_lanes);
  const Stored* const x = reinterpret_cast<const Stored*>(sum.x.data) + first;
  const std::int64_t stride = sum.x.stride * static_cast<std::int64_t>(sizeof(Real) / sizeof(Stored));
  const EdgeId last_edge = sum.indptr[sum.rows.end] - 1;
  for (std::int64_t i = sum.rows.begin; i < sum.rows.end; ++i) {
    typename Vector::Register acc[static_cast<std::size_t>(kVectors)];
#pragma GCC unroll 32
    for (int v = 0; v < kVectors; ++v) acc[v] = Vector::broadcast(Real{0});
    const EdgeId row_end = sum.indptr[i + 1];
    for (EdgeId e = sum.indptr[i]; e < row_end; ++e) {
      prefetch_block<Vector, kVectors>(x + sum.columns[std::min(e + kDistance, last_edge)] * stride);
      const Real weight = kWeighted ? static_cast<Real>(sum.weights[e]) : Real{1};
      add_block<Vector, kVectors, kWeighted>(acc, x + sum.columns[e] * stride, weight, tail);
    }
    if (sum.self != nullptr) add_block<Vector, kVectors, true>(acc, x + i * stride, sum.self[i], tail);
    if (sum.scale != nullptr) {
#pragma GCC unroll 32
      for (int v = 0; v < kVectors; ++v) acc[v] = Vector::multiply(acc[v], Vector::broadcast(sum.scale[i]));
    }
    store_block<Vector, kVectors>(acc, sum.y.row(i) + first, tail);
  }
}

template <class Vector>
using BlockSum = void (*)(const NeighbourSum<typename Vector::Real>&, std::int64_t, int);

// [weighted][vectors - 1]
template <class Vector, std::size_t... kIndex>
constexpr auto make_block_sums(std::index_sequence<kIndex...>) {
  return std::array<std::array<BlockSum<Vector>, sizeof...(kIndex)>, 2>{
      {{&sum_block<Vector, static_cast<int>(kIndex) + 1, false>...},
       {&sum_block<Vector, static_cast<int>(kIndex) + 1, true>...}}};
}

// Cuts the columns into as few blocks as the registers allow, of nearly equal width.
template <class Vector>
void sum_rows(const NeighbourSum<typename Vector::Real>& sum) {
  static constexpr auto kSums = make_block_sums<Vector>(std::make_index_sequence<Vector::kMaxVectors>{});
  constexpr std::int64_t kLanes = Vector::kLanes;
  const std::int64_t cols = sum.y.cols;
  const std::int64_t vectors = (cols + kLanes - 1) / kLanes;
  const std::int64_t blocks = (vectors + Vector::kMaxVectors - 1) / Vector::kMaxVectors;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t begin = vectors * b / blocks;
    const std::int64_t end = vectors * (b + 1) / blocks;
    const std::int64_t tail = std::min(kLanes, cols - (end - 1) * kLanes);
    const auto& sums = kSums[sum.weights != nullptr ? 1 : 0];
    sums[static_cast<std::size_t>(end - begin - 1)](sum, begin * kLanes, static_cast<int>(tail));
  }
}
