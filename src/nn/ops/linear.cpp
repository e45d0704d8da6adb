// linear: y = x W + b [+ addend]
//   x: [t x k]   W: [k x n]   b: [n]   y: [t x n]
//   dx = dy W^T
//   dW = x^T dy, db = column sums of dy, over all rows of all ranks
// Where x = f A u, a sum over the neighbours' u that has no other reader, t = A^T (f dy) serves both gradients:
//   dW = u^T t, du = t W^T, so x need not be kept from forward to backward

#include <algorithm>

#include "../derivation.hpp"
#include "../tile_context.hpp"
#include "halo/kernels/product.hpp"
#include "halo/kernels/rows.hpp"

namespace halo::nn {
namespace {

/// Makes `y` hold `addend` before the product is added: nothing to do where they share memory.
template <typename Real>
void place_addend(MatrixView<const Real> addend, MatrixView<Real> y) {
  if (addend.data == y.data) return;
  for (std::int64_t r = 0; r < y.rows; ++r) std::copy_n(addend.row(r), y.cols, y.row(r));
}

template <typename Real>
void place_bias(std::span<const Real> bias, MatrixView<Real> y) {
  for (std::int64_t r = 0; r < y.rows; ++r) std::copy_n(bias.data(), y.cols, y.row(r));
}

}  // namespace

template <typename Real>
void run(const op::Linear& linear, const TileContext<Real>& tile) {
  const MatrixView<Real> y = tile.output();
  const bool has_addend = tile.has_input(1);
  if (has_addend) {
    place_addend(tile.input(1), y);
    if (linear.bias != kNone) kernels::add_bias<Real>(y, tile.vector_parameter(linear.bias), y);
  } else if (linear.bias != kNone) {
    place_bias(tile.vector_parameter(linear.bias), y);
  }
  kernels::product(tile.input(0), tile.parameter(linear.weight), y, has_addend || linear.bias != kNone);
}

template <typename Real>
void run(const op::LinearInputGradient& linear, const TileContext<Real>& tile) {
  const MatrixView<Real> dx = tile.output();
  const bool has_addend = tile.has_input(1);
  if (has_addend) place_addend(tile.input(1), dx);
  if (has_addend && tile.is_zero(0)) return;
  kernels::product(tile.input(0), tile.transposed_parameter(linear.weight), dx, has_addend);
}

template <typename Real>
void run(const op::LinearWeightGradient& linear, const TileContext<Real>& tile) {
  kernels::product_left_transposed(tile.input(0), tile.input(1), tile.gradient(linear.weight), true);
  if (linear.bias != kNone) kernels::column_sums(tile.input(1), tile.vector_gradient(linear.bias));
}

namespace {

/// The sum over neighbours that makes x, if both gradients are better had through its transpose: that moves dy
/// instead of the gradient of x.
const Operation* sum_to_go_through(ValueId x, ValueId dy, const Derivation& derivation) {
  const Operation* producer = derivation.sole_producer(x);
  if (producer == nullptr || !std::holds_alternative<op::NeighbourSum>(producer->kind)) return nullptr;
  const bool narrower = derivation.program().cols(dy) <= derivation.program().cols(x);
  return narrower && derivation.wanted(producer->inputs[0]) ? producer : nullptr;
}

}  // namespace

void derive(const op::Linear& linear, const Operation& forward, ValueId dy, Derivation& derivation) {
  const ValueId x = forward.inputs[0];
  if (const Operation* sum = sum_to_go_through(x, dy, derivation)) {
    const ValueId u = sum->inputs[0];
    const ValueId t = emit_transposed_sum(std::get<op::NeighbourSum>(sum->kind), dy, derivation);
    if (linear.bias != kNone) derivation.emit(op::BiasGradient{.bias = linear.bias}, {dy});
    derivation.emit(op::LinearWeightGradient{.weight = linear.weight}, {u, t});
    const op::LinearInputGradient gradient{.weight = linear.weight};
    derivation.contribute(u, derivation.emit(gradient, {t}, derivation.program().cols(u)));
    return;
  }
  derivation.emit(op::LinearWeightGradient{.weight = linear.weight, .bias = linear.bias}, {x, dy});
  if (derivation.wanted(x)) {
    const std::int64_t cols = derivation.program().cols(x);
    derivation.contribute(x, derivation.emit(op::LinearInputGradient{.weight = linear.weight}, {dy}, cols));
  }
}

template void run(const op::Linear&, const TileContext<float>&);
template void run(const op::Linear&, const TileContext<double>&);
template void run(const op::LinearInputGradient&, const TileContext<float>&);
template void run(const op::LinearInputGradient&, const TileContext<double>&);
template void run(const op::LinearWeightGradient&, const TileContext<float>&);
template void run(const op::LinearWeightGradient&, const TileContext<double>&);

}  // namespace halo::nn
