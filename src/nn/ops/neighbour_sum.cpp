// neighbour_sum: y_i = f_i (sum_{j in N(i)} w_ij x_j [+ loop_i x_i])
//   x: [owned + halo x d], gathered   y: [owned x d]   f: a row factor of the graph
//   dx_j = sum_{i in M(j)} w_ij f_i dy_i [+ loop_j f_j dy_j]: scale, gather, the same sum over out-edges
// scale_rows: y_i = f_i x_i; dx_i = f_i dy_i; by the inverse y_i = x_i / f_i, in backward only

#include "halo/kernels/neighbour_sum.hpp"

#include <algorithm>
#include <array>

#include "../derivation.hpp"
#include "../tile_context.hpp"
#include "halo/kernels/rows.hpp"

namespace halo::nn {

template <typename Real>
void run(const op::NeighbourSum& sum, const TileContext<Real>& tile) {
  const graph::Adjacency& edges = tile.edges(sum.direction);
  const auto scale = tile.factor(sum.after);
  kernels::neighbour_sum<Real>({.indptr = edges.indptr.data(),
                                .columns = edges.columns.data(),
                                .weights = edges.weights.empty() ? nullptr : edges.weights.data(),
                                .self = sum.add_loop ? tile.loop().data() : nullptr,
                                .scale = scale.empty() ? nullptr : scale.data(),
                                .x = tile.whole_input(0),
                                .y = tile.whole_output(),
                                .rows = tile.rows(),
                                .half = sum.half});
}

ValueId emit_transposed_sum(const op::NeighbourSum& sum, ValueId dy, Derivation& derivation) {
  const std::int64_t cols = derivation.program().cols(dy);
  const ValueId scaled =
      sum.after == RowFactor::kOne ? dy : derivation.emit(op::ScaleRows{.factor = sum.after}, {dy}, cols);
  const Direction back = sum.direction == Direction::kIn ? Direction::kOut : Direction::kIn;
  return derivation.emit(op::NeighbourSum{.direction = back, .add_loop = sum.add_loop}, {scaled}, cols);
}

void derive(const op::NeighbourSum& sum, const Operation& forward, ValueId dy, Derivation& derivation) {
  derivation.contribute(forward.inputs[0], emit_transposed_sum(sum, dy, derivation));
}

namespace {

/// Rows of x over their factors, some rows at a time.
template <typename Real>
void divide_rows(MatrixView<const Real> x, std::span<const Real> factors, MatrixView<Real> y) {
  std::array<Real, 64> inverse;
  for (std::int64_t begin = 0; begin < x.rows; begin += std::ssize(inverse)) {
    const RowRange rows{begin, std::min<std::int64_t>(begin + std::ssize(inverse), x.rows)};
    for (std::int64_t i = rows.begin; i < rows.end; ++i) inverse[at(i - begin)] = Real{1} / factors[at(i)];
    kernels::scale_rows<Real>(x.slice(rows), std::span(inverse).first(at(rows.size())), y.slice(rows));
  }
}

}  // namespace

template <typename Real>
void run(const op::ScaleRows& scale, const TileContext<Real>& tile) {
  const auto factors = tile.factor(scale.factor).subspan(at(tile.rows().begin), at(tile.rows().size()));
  if (scale.inverse) {
    divide_rows<Real>(tile.input(0), factors, tile.output());
  } else {
    kernels::scale_rows(tile.input(0), factors, tile.output());
  }
}

void derive(const op::ScaleRows& scale, const Operation& forward, ValueId dy, Derivation& derivation) {
  const ValueId x = forward.inputs[0];
  derivation.contribute(x, derivation.emit(scale, {dy}, derivation.program().cols(x)));
}

template void run(const op::NeighbourSum&, const TileContext<float>&);
template void run(const op::NeighbourSum&, const TileContext<double>&);
template void run(const op::ScaleRows&, const TileContext<float>&);
template void run(const op::ScaleRows&, const TileContext<double>&);

}  // namespace halo::nn
