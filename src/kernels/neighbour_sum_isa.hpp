#pragma once

#include "half.hpp"
#include "halo/base/cpu.hpp"
#include "halo/kernels/neighbour_sum.hpp"

namespace halo::kernels::internal {

// One neighbour sum for each instruction set; all give the same bits, because each column is summed in the
// order of the row, a product and a sum are rounded one after the other, and lanes never meet. Those of x86
// exist on x86 alone.
template <typename Real>
void neighbour_sum_portable(const NeighbourSum<Real>& sum);
template <typename Real>
void neighbour_sum_avx2(const NeighbourSum<Real>& sum);
template <typename Real>
void neighbour_sum_avx512(const NeighbourSum<Real>& sum);

/// The given one, which this CPU must have.
template <typename Real>
void neighbour_sum_with(VectorIsa isa, const NeighbourSum<Real>& sum);

}  // namespace halo::kernels::internal
