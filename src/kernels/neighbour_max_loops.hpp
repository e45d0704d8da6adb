#pragma once

#include "halo/base/cpu.hpp"
#include "halo/kernels/neighbour_max.hpp"

namespace halo::kernels::internal {

/// The loops of halo/kernels/neighbour_max.hpp for one instruction set. Columns never meet, so all give the
/// same bits.
template <typename Real>
struct NeighbourMaxLoops {
  using In = MatrixView<const Real>;
  using Out = MatrixView<Real>;
  void (*largest)(const NeighbourEdges& in, In x, Out y);
  void (*share)(const NeighbourEdges& in, In x, In y, In dy, Out shares);
  void (*gradient)(const NeighbourEdges& out, In shares, In x, Out dx);
};

// Those of x86 exist on x86 alone.
template <typename Real>
const NeighbourMaxLoops<Real>& neighbour_max_loops_portable();
template <typename Real>
const NeighbourMaxLoops<Real>& neighbour_max_loops_avx2();
template <typename Real>
const NeighbourMaxLoops<Real>& neighbour_max_loops_avx512();

/// Those of an instruction set that this CPU has.
template <typename Real>
const NeighbourMaxLoops<Real>& neighbour_max_loops(VectorIsa isa) {
#if defined(__x86_64__)
  if (isa == VectorIsa::kAvx512) return neighbour_max_loops_avx512<Real>();
  if (isa == VectorIsa::kAvx2) return neighbour_max_loops_avx2<Real>();
#endif
  return neighbour_max_loops_portable<Real>();
}

}  // namespace halo::kernels::internal
