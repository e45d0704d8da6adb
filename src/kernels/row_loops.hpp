#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "half.hpp"
#include "halo/base/counter_rng.hpp"
#include "halo/base/cpu.hpp"
#include "halo/base/ids.hpp"
#include "halo/base/matrix_view.hpp"

namespace halo::kernels::internal {

/// What dropout does with a row's random bits.
template <typename Real>
struct Keep {
  std::uint32_t threshold;  ///< a column stays where its bits are at least this
  Real scale;               ///< and is multiplied by this
};

/// Inverted dropout with probability p; none where nothing stays: no threshold is above every word.
template <typename Real>
std::optional<Keep<Real>> keep_of(double p) {
  const double threshold = std::ceil(p * 0x1.0p32);  // the smallest integer >= p 2^32
  if (threshold >= 0x1.0p32) return std::nullopt;
  return Keep<Real>{static_cast<std::uint32_t>(threshold), static_cast<Real>(1.0 / (1.0 - p))};
}

/// The row loops of halo/kernels/rows.hpp and half_rows.hpp that are worth wide vectors. They treat elements one by one
/// (column_sums: each column in the order of rows), so all instruction sets give the same bits.
template <typename Real>
struct RowLoops {
  using In = MatrixView<const Real>;
  using Out = MatrixView<Real>;
  void (*scale_rows)(In x, const Real* scale, Out y);
  void (*add)(In a, In b, Out y);
  void (*add_bias)(In x, const Real* bias, Out y);
  void (*column_sums)(In x, Real* sums);
  void (*relu)(In x, Out y);
  void (*relu_backward)(In y, In dy, Real scale, Out dx);
  void (*dropout)(In x, std::span<const NodeId> ids, const CounterRng& rng, Keep<Real> keep, Out y);
  void (*relu_dropout)(In x, std::span<const NodeId> ids, const CounterRng& rng, Keep<Real> keep, Out y);
  void (*pack_half)(In x, Out packed);
  void (*unpack_half)(In packed, Out x);
};

// Those of x86 exist on x86 alone.
template <typename Real>
const RowLoops<Real>& row_loops_portable();
template <typename Real>
const RowLoops<Real>& row_loops_avx2();
template <typename Real>
const RowLoops<Real>& row_loops_avx512();

/// Those of an instruction set that this CPU has.
template <typename Real>
const RowLoops<Real>& row_loops(VectorIsa isa) {
#if defined(__x86_64__)
  if (isa == VectorIsa::kAvx512) return row_loops_avx512<Real>();
  if (isa == VectorIsa::kAvx2) return row_loops_avx2<Real>();
#endif
  return row_loops_portable<Real>();
}

}  // namespace halo::kernels::internal
