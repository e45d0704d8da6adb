// input:    the feature matrix
// add_bias: y = x + b          dx = dy, db = column sums of dy
// add:      y = a + b          da = db = dy

#include "halo/kernels/elementwise.hpp"

#include "../derivation.hpp"
#include "../tile_context.hpp"
#include "halo/kernels/rows.hpp"

namespace halo::nn {

template <typename Real>
void run(const op::Input&, const TileContext<Real>& tile) {
  kernels::copy_columns_into(tile.features().slice(tile.rows()), 0, tile.output());
}

template <typename Real>
void run(const op::AddBias& add, const TileContext<Real>& tile) {
  kernels::add_bias(tile.input(0), tile.vector_parameter(add.bias), tile.output());
}

template <typename Real>
void run(const op::BiasGradient& add, const TileContext<Real>& tile) {
  kernels::column_sums(tile.input(0), tile.vector_gradient(add.bias));
}

void derive(const op::AddBias& add, const Operation& forward, ValueId dy, Derivation& derivation) {
  derivation.emit(op::BiasGradient{.bias = add.bias}, {dy});
  if (derivation.wanted(forward.inputs[0])) derivation.contribute(forward.inputs[0], dy);
}

template <typename Real>
void run(const op::Add&, const TileContext<Real>& tile) {
  kernels::add(tile.input(0), tile.input(1), tile.output());
}

void derive(const op::Add&, const Operation& forward, ValueId dy, Derivation& derivation) {
  for (const ValueId input : forward.inputs) {
    if (derivation.wanted(input)) derivation.contribute(input, dy);
  }
}

template void run(const op::Input&, const TileContext<float>&);
template void run(const op::Input&, const TileContext<double>&);
template void run(const op::AddBias&, const TileContext<float>&);
template void run(const op::AddBias&, const TileContext<double>&);
template void run(const op::BiasGradient&, const TileContext<float>&);
template void run(const op::BiasGradient&, const TileContext<double>&);
template void run(const op::Add&, const TileContext<float>&);
template void run(const op::Add&, const TileContext<double>&);

}  // namespace halo::nn
