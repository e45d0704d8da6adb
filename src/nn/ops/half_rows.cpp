// pack_half: p = x rounded to half width, two numbers in the place of one
//   x: [t x d]   p: [t x half_cols(d)]
// unpack_half: x = p, exact
// Both appear after differentiation: the gradient of a rounded value is that of the value.

#include "halo/kernels/half_rows.hpp"

#include "../tile_context.hpp"

namespace halo::nn {

template <typename Real>
void run(const op::PackHalf&, const TileContext<Real>& tile) {
  kernels::pack_half<Real>(tile.input(0), tile.output());
}

template <typename Real>
void run(const op::UnpackHalf&, const TileContext<Real>& tile) {
  kernels::unpack_half<Real>(tile.input(0), tile.output());
}

template void run(const op::PackHalf&, const TileContext<float>&);
template void run(const op::PackHalf&, const TileContext<double>&);
template void run(const op::UnpackHalf&, const TileContext<float>&);
template void run(const op::UnpackHalf&, const TileContext<double>&);

}  // namespace halo::nn
