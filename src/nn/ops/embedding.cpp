// embedding: y_i = learnt row i of this rank; its gradient row is dy_i

#include "../derivation.hpp"
#include "../tile_context.hpp"
#include "halo/kernels/elementwise.hpp"

namespace halo::nn {

template <typename Real>
void run(const op::Embedding&, const TileContext<Real>& tile) {
  kernels::copy_columns_into(tile.embedding().values.slice(tile.rows()), 0, tile.output());
}

template <typename Real>
void run(const op::EmbeddingGradient&, const TileContext<Real>& tile) {
  kernels::copy_columns_into(tile.input(0), 0, tile.embedding().gradient.slice(tile.rows()));
}

void derive(const op::Embedding&, const Operation&, ValueId dy, Derivation& derivation) {
  derivation.emit(op::EmbeddingGradient{}, {dy});
}

template void run(const op::Embedding&, const TileContext<float>&);
template void run(const op::Embedding&, const TileContext<double>&);
template void run(const op::EmbeddingGradient&, const TileContext<float>&);
template void run(const op::EmbeddingGradient&, const TileContext<double>&);

}  // namespace halo::nn
