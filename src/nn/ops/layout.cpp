// concat:    y = [a | b | ...]             da, db, ...: columns of dy
// columns:   y = columns of x: the gradient of concat
// maximum:   y = max(a, b, ...)            dy goes to the first of the largest
// head_mean: y_ic = mean_h x_i(h C + c)    dx_i(h C + c) = dy_ic / heads

#include "../derivation.hpp"
#include "../tile_context.hpp"
#include "halo/kernels/elementwise.hpp"

namespace halo::nn {

template <typename Real>
void run(const op::Concat&, const TileContext<Real>& tile) {
  std::int64_t begin = 0;
  for (std::size_t k = 0; tile.has_input(k); ++k) {
    kernels::copy_columns_into(tile.input(k), begin, tile.output());
    begin += tile.input(k).cols;
  }
}

void derive(const op::Concat&, const Operation& forward, ValueId dy, Derivation& derivation) {
  std::int64_t begin = 0;
  for (const ValueId input : forward.inputs) {
    const std::int64_t cols = derivation.program().cols(input);
    if (derivation.wanted(input)) {
      derivation.contribute(input, derivation.emit(op::Columns{.begin = begin}, {dy}, cols));
    }
    begin += cols;
  }
}

template <typename Real>
void run(const op::Columns& columns, const TileContext<Real>& tile) {
  kernels::copy_columns_from(tile.input(0), columns.begin, tile.output());
}

template <typename Real>
void run(const op::Maximum&, const TileContext<Real>& tile) {
  const MatrixView<Real> y = tile.output();
  kernels::copy_columns_into(tile.input(0), 0, y);
  for (std::size_t k = 1; tile.has_input(k); ++k) kernels::raise_to(tile.input(k), y);
}

template <typename Real>
void run(const op::MaximumGradient& gradient, const TileContext<Real>& tile) {
  std::size_t inputs = 0;
  while (tile.has_input(inputs + 1)) ++inputs;  // the last one is dy
  const MatrixView<const Real> x = tile.input(gradient.which);
  const MatrixView<Real> dx = tile.output();
  kernels::copy_columns_into(tile.input(inputs), 0, dx);
  for (std::size_t k = 0; k < inputs; ++k) {
    kernels::clear_where_beaten(x, tile.input(k), k < gradient.which, dx);
  }
}

void derive(const op::Maximum&, const Operation& forward, ValueId dy, Derivation& derivation) {
  const std::int64_t cols = derivation.program().cols(forward.output);
  std::vector<ValueId> inputs = forward.inputs;
  inputs.push_back(dy);
  for (std::size_t k = 0; k < forward.inputs.size(); ++k) {
    if (!derivation.wanted(forward.inputs[k])) continue;
    derivation.contribute(forward.inputs[k], derivation.emit(op::MaximumGradient{.which = k}, inputs, cols));
  }
}

template <typename Real>
void run(const op::HeadMean& mean, const TileContext<Real>& tile) {
  kernels::head_mean(tile.input(0), mean.heads, tile.output());
}

template <typename Real>
void run(const op::HeadMeanGradient& mean, const TileContext<Real>& tile) {
  kernels::head_mean_backward(tile.input(0), mean.heads, tile.output());
}

void derive(const op::HeadMean& mean, const Operation& forward, ValueId dy, Derivation& derivation) {
  const ValueId x = forward.inputs[0];
  derivation.contribute(
      x, derivation.emit(op::HeadMeanGradient{.heads = mean.heads}, {dy}, derivation.program().cols(x)));
}

template void run(const op::Concat&, const TileContext<float>&);
template void run(const op::Concat&, const TileContext<double>&);
template void run(const op::Columns&, const TileContext<float>&);
template void run(const op::Columns&, const TileContext<double>&);
template void run(const op::Maximum&, const TileContext<float>&);
template void run(const op::Maximum&, const TileContext<double>&);
template void run(const op::MaximumGradient&, const TileContext<float>&);
template void run(const op::MaximumGradient&, const TileContext<double>&);
template void run(const op::HeadMean&, const TileContext<float>&);
template void run(const op::HeadMean&, const TileContext<double>&);
template void run(const op::HeadMeanGradient&, const TileContext<float>&);
template void run(const op::HeadMeanGradient&, const TileContext<double>&);

}  // namespace halo::nn
