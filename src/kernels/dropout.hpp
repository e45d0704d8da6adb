#pragma once

#include "halo/kernels/rows.hpp"
#include "row_loops.hpp"

namespace halo::kernels::internal {

/// dropout, or relu_dropout if `relu`, with the loops of an instruction set that this CPU has.
template <typename Real>
void dropout_with(VectorIsa isa, bool relu, MatrixView<const Real> x, std::span<const NodeId> ids,
                  const CounterRng& rng, double p, MatrixView<Real> y);

}  // namespace halo::kernels::internal
