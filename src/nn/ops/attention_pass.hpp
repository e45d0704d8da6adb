#pragma once

#include <span>

#include "../tile_context.hpp"
#include "halo/kernels/attention.hpp"

namespace halo::nn {

/// One pass of an attention operation over the edges of a tile.
template <typename Real>
kernels::Attention<Real> attention_pass(const AttentionOptions& options, Direction direction,
                                        const TileContext<Real>& tile) {
  const graph::Adjacency& edges = tile.edges(direction);
  return {.indptr = edges.indptr.data(),
          .columns = edges.columns.data(),
          .loop = options.loops ? tile.graph().loop_to_add.data() : nullptr,
          .rows = tile.rows(),
          .heads = options.heads,
          .slope = static_cast<Real>(options.slope),
          .dropout = options.p,
          .rng = tile.rng(options.stream),
          .id = tile.neighbour_ids(direction).data()};
}

/// All elements of a parameter, or of the sum of its gradient.
template <typename T>
std::span<T> all_elements(MatrixView<T> matrix) {
  return {matrix.data, static_cast<std::size_t>(matrix.rows * matrix.cols)};
}

/// Refuses numbers of heads that the kernels do not serve or that do not divide the columns.
void check_heads(const AttentionOptions& options, std::int64_t cols);

}  // namespace halo::nn
