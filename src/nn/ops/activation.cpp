// relu:         y = max(x, 0)                    dx = dy where y > 0
// activation:   y = elu(x) or leaky_relu(x)      dx = dy times the slope at x, which y tells
// dropout:      y = m x / (1 - p), m in {0, 1}   dx = m dy / (1 - p), m drawn again
// relu_dropout: y = dropout(relu(x))             dx = dy / (1 - p) where y > 0: y = 0 wherever
//                                                either cut

#include "../derivation.hpp"
#include "../tile_context.hpp"
#include "halo/kernels/elementwise.hpp"
#include "halo/kernels/rows.hpp"

namespace halo::nn {

template <typename Real>
void run(const op::Relu&, const TileContext<Real>& tile) {
  kernels::relu(tile.input(0), tile.output());
}

template <typename Real>
void run(const op::ReluGradient&, const TileContext<Real>& tile) {
  kernels::relu_backward(tile.input(0), tile.input(1), tile.output());
}

void derive(const op::Relu&, const Operation& forward, ValueId dy, Derivation& derivation) {
  const std::int64_t cols = derivation.program().cols(forward.output);
  derivation.contribute(forward.inputs[0], derivation.emit(op::ReluGradient{}, {forward.output, dy}, cols));
}

template <typename Real>
void run(const op::Activation& activation, const TileContext<Real>& tile) {
  if (activation.kind == ActivationKind::kElu) {
    kernels::elu(tile.input(0), tile.output());
  } else {
    kernels::leaky_relu(tile.input(0), static_cast<Real>(activation.slope), tile.output());
  }
}

template <typename Real>
void run(const op::ActivationGradient& activation, const TileContext<Real>& tile) {
  if (activation.kind == ActivationKind::kElu) {
    kernels::elu_backward(tile.input(0), tile.input(1), tile.output());
  } else {
    kernels::leaky_relu_backward(tile.input(0), tile.input(1), static_cast<Real>(activation.slope),
                                 tile.output());
  }
}

void derive(const op::Activation& activation, const Operation& forward, ValueId dy, Derivation& derivation) {
  const std::int64_t cols = derivation.program().cols(forward.output);
  const op::ActivationGradient gradient{.kind = activation.kind, .slope = activation.slope};
  derivation.contribute(forward.inputs[0], derivation.emit(gradient, {forward.output, dy}, cols));
}

template <typename Real>
void run(const op::Dropout& dropout, const TileContext<Real>& tile) {
  kernels::dropout(tile.input(0), tile.original_ids(), tile.rng(dropout.stream), dropout.p, tile.output());
}

void derive(const op::Dropout& dropout, const Operation& forward, ValueId dy, Derivation& derivation) {
  if (!derivation.wanted(forward.inputs[0])) return;
  const std::int64_t cols = derivation.program().cols(forward.output);
  derivation.contribute(forward.inputs[0], derivation.emit(dropout, {dy}, cols));
}

template <typename Real>
void run(const op::ReluDropout& dropout, const TileContext<Real>& tile) {
  kernels::relu_dropout(tile.input(0), tile.original_ids(), tile.rng(dropout.stream), dropout.p,
                        tile.output());
}

template <typename Real>
void run(const op::ReluDropoutGradient& dropout, const TileContext<Real>& tile) {
  kernels::relu_dropout_backward(tile.input(0), tile.input(1), dropout.p, tile.output());
}

void derive(const op::ReluDropout& dropout, const Operation& forward, ValueId dy, Derivation& derivation) {
  const std::int64_t cols = derivation.program().cols(forward.output);
  derivation.contribute(forward.inputs[0],
                        derivation.emit(op::ReluDropoutGradient{.p = dropout.p}, {forward.output, dy}, cols));
}

template void run(const op::Relu&, const TileContext<float>&);
template void run(const op::Relu&, const TileContext<double>&);
template void run(const op::ReluGradient&, const TileContext<float>&);
template void run(const op::ReluGradient&, const TileContext<double>&);
template void run(const op::Activation&, const TileContext<float>&);
template void run(const op::Activation&, const TileContext<double>&);
template void run(const op::ActivationGradient&, const TileContext<float>&);
template void run(const op::ActivationGradient&, const TileContext<double>&);
template void run(const op::Dropout&, const TileContext<float>&);
template void run(const op::Dropout&, const TileContext<double>&);
template void run(const op::ReluDropout&, const TileContext<float>&);
template void run(const op::ReluDropout&, const TileContext<double>&);
template void run(const op::ReluDropoutGradient&, const TileContext<float>&);
template void run(const op::ReluDropoutGradient&, const TileContext<double>&);

}  // namespace halo::nn
