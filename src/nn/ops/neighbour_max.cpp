// neighbour_max:       y_i,c = max_{j in N(i)} x_j,c, 0 without neighbours
//   x: [owned + halo x C], gathered   y: [owned x C]
// neighbour_max_share: x, y, dy -> [y | dy / number of neighbours with x_j,c = y_i,c]
//   over in-edges once more
//   dx_j,c = sum of the shares of the i in M(j) with y_i,c = x_j,c: gather [y | share] over out-edges

#include "halo/kernels/neighbour_max.hpp"

#include "../derivation.hpp"
#include "../tile_context.hpp"

namespace halo::nn {
namespace {

template <typename Real>
kernels::NeighbourEdges edges_of(Direction direction, const TileContext<Real>& tile) {
  const graph::Adjacency& edges = tile.edges(direction);
  return {.indptr = edges.indptr.data(), .columns = edges.columns.data(), .rows = tile.rows()};
}

}  // namespace

ValueId append_neighbour_max(Program& program, ValueId x) {
  return program.append(op::NeighbourMax{}, {x}, program.cols(x));
}

template <typename Real>
void run(const op::NeighbourMax&, const TileContext<Real>& tile) {
  kernels::neighbour_max<Real>(edges_of(Direction::kIn, tile), tile.whole_input(0), tile.whole_output());
}

template <typename Real>
void run(const op::NeighbourMaxShare&, const TileContext<Real>& tile) {
  kernels::neighbour_max_share<Real>(edges_of(Direction::kIn, tile), tile.whole_input(0), tile.whole_input(1),
                                     tile.whole_input(2), tile.whole_output());
}

template <typename Real>
void run(const op::NeighbourMaxGradient&, const TileContext<Real>& tile) {
  kernels::neighbour_max_gradient<Real>(edges_of(Direction::kOut, tile), tile.whole_input(0),
                                        tile.whole_input(1), tile.whole_output());
}

void derive(const op::NeighbourMax&, const Operation& forward, ValueId dy, Derivation& derivation) {
  const ValueId x = forward.inputs[0];
  if (!derivation.wanted(x)) return;
  const std::int64_t cols = derivation.program().cols(x);
  const ValueId shares = derivation.emit(op::NeighbourMaxShare{}, {x, forward.output, dy}, 2 * cols);
  derivation.contribute(x, derivation.emit(op::NeighbourMaxGradient{}, {shares, x}, cols));
}

#define HALO_INSTANTIATE(Op)                                   \
  template void run(const op::Op&, const TileContext<float>&); \
  template void run(const op::Op&, const TileContext<double>&)
HALO_INSTANTIATE(NeighbourMax);
HALO_INSTANTIATE(NeighbourMaxShare);
HALO_INSTANTIATE(NeighbourMaxGradient);
#undef HALO_INSTANTIATE

}  // namespace halo::nn
