// l2_norm:    y_i = x_i / |x_i|
//   dx_i = (dy_i - y_i <y_i, dy_i>) / |x_i|
// layer_norm: y_i = xhat_i weight + bias, xhat_i = (x_i - mean_i) / sigma_i
//   dx_i = (g_i - mean(g_i) - xhat_i mean(g_i xhat_i)) / sigma_i, g_i = dy_i weight
//   d weight = sum of dy_i xhat_i, d bias = sum of dy_i over all rows

#include "../derivation.hpp"
#include "../tile_context.hpp"
#include "halo/kernels/norms.hpp"

namespace halo::nn {

template <typename Real>
void run(const op::L2Norm&, const TileContext<Real>& tile) {
  kernels::l2_norm(tile.input(0), tile.output());
}

template <typename Real>
void run(const op::L2NormGradient&, const TileContext<Real>& tile) {
  kernels::l2_norm_backward(tile.input(0), tile.input(1), tile.output());
}

void derive(const op::L2Norm&, const Operation& forward, ValueId dy, Derivation& derivation) {
  const ValueId x = forward.inputs[0];
  derivation.contribute(x, derivation.emit(op::L2NormGradient{}, {x, dy}, derivation.program().cols(x)));
}

template <typename Real>
void run(const op::LayerNorm& norm, const TileContext<Real>& tile) {
  kernels::layer_norm(tile.input(0), tile.vector_parameter(norm.weight), tile.vector_parameter(norm.bias),
                      norm.epsilon, tile.output());
}

template <typename Real>
void run(const op::LayerNormGradient& norm, const TileContext<Real>& tile) {
  kernels::layer_norm_backward(tile.input(0), tile.vector_parameter(norm.weight), norm.epsilon, tile.input(1),
                               tile.output(), tile.vector_gradient(norm.weight),
                               tile.vector_gradient(norm.bias));
}

void derive(const op::LayerNorm& norm, const Operation& forward, ValueId dy, Derivation& derivation) {
  const ValueId x = forward.inputs[0];
  const op::LayerNormGradient gradient{.weight = norm.weight, .bias = norm.bias, .epsilon = norm.epsilon};
  const ValueId dx = derivation.emit(gradient, {x, dy}, derivation.program().cols(x));
  if (derivation.wanted(x)) derivation.contribute(x, dx);
}

template void run(const op::L2Norm&, const TileContext<float>&);
template void run(const op::L2Norm&, const TileContext<double>&);
template void run(const op::L2NormGradient&, const TileContext<float>&);
template void run(const op::L2NormGradient&, const TileContext<double>&);
template void run(const op::LayerNorm&, const TileContext<float>&);
template void run(const op::LayerNorm&, const TileContext<double>&);
template void run(const op::LayerNormGradient&, const TileContext<float>&);
template void run(const op::LayerNormGradient&, const TileContext<double>&);

}  // namespace halo::nn
