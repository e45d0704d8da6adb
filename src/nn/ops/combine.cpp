// combine:    y = alpha a + beta b      da = alpha dy, db = beta dy
// scale:      y = factor x              dx = factor dy
// add_scaled: y = a + (1 + epsilon) x   da = dy, dx = (1 + epsilon) dy,
//                                       d epsilon = sum over all rows of <dy_i, x_i>, where it is learnt

#include "../derivation.hpp"
#include "../tile_context.hpp"
#include "halo/kernels/elementwise.hpp"

namespace halo::nn {

template <typename Real>
void run(const op::Combine& combine, const TileContext<Real>& tile) {
  kernels::combine(static_cast<Real>(combine.alpha), tile.input(0), static_cast<Real>(combine.beta),
                   tile.input(1), tile.output());
}

template <typename Real>
void run(const op::Scale& scale, const TileContext<Real>& tile) {
  kernels::scale(static_cast<Real>(scale.factor), tile.input(0), tile.output());
}

void derive(const op::Combine& combine, const Operation& forward, ValueId dy, Derivation& derivation) {
  const std::int64_t cols = derivation.program().cols(forward.output);
  const double factors[] = {combine.alpha, combine.beta};
  for (std::size_t k = 0; k < 2; ++k) {
    if (!derivation.wanted(forward.inputs[k])) continue;
    derivation.contribute(forward.inputs[k], derivation.emit(op::Scale{.factor = factors[k]}, {dy}, cols));
  }
}

void derive(const op::Scale& scale, const Operation& forward, ValueId dy, Derivation& derivation) {
  const std::int64_t cols = derivation.program().cols(forward.output);
  derivation.contribute(forward.inputs[0], derivation.emit(scale, {dy}, cols));
}

template <typename Real>
void run(const op::AddScaled& add, const TileContext<Real>& tile) {
  const Real factor = Real{1} + tile.vector_parameter(add.epsilon)[0];
  kernels::combine(Real{1}, tile.input(0), factor, tile.input(1), tile.output());
}

template <typename Real>
void run(const op::AddScaledGradient& add, const TileContext<Real>& tile) {
  if (add.learnt) {
    const double inner = kernels::inner_product(tile.input(0), tile.input(1));
    tile.vector_gradient(add.epsilon)[0] += static_cast<Real>(inner);
  }
  kernels::scale(Real{1} + tile.vector_parameter(add.epsilon)[0], tile.input(0), tile.output());
}

void derive(const op::AddScaled& add, const Operation& forward, ValueId dy, Derivation& derivation) {
  const ValueId x = forward.inputs[1];
  if (derivation.wanted(forward.inputs[0])) derivation.contribute(forward.inputs[0], dy);
  if (!add.learnt && !derivation.wanted(x)) return;
  const auto inputs = add.learnt ? std::vector<ValueId>{dy, x} : std::vector<ValueId>{dy};
  const ValueId dx = derivation.emit(op::AddScaledGradient{.epsilon = add.epsilon, .learnt = add.learnt},
                                     inputs, derivation.program().cols(x));
  if (derivation.wanted(x)) derivation.contribute(x, dx);
}

template void run(const op::Combine&, const TileContext<float>&);
template void run(const op::Combine&, const TileContext<double>&);
template void run(const op::Scale&, const TileContext<float>&);
template void run(const op::Scale&, const TileContext<double>&);
template void run(const op::AddScaled&, const TileContext<float>&);
template void run(const op::AddScaled&, const TileContext<double>&);
template void run(const op::AddScaledGradient&, const TileContext<float>&);
template void run(const op::AddScaledGradient&, const TileContext<double>&);

}  // namespace halo::nn
