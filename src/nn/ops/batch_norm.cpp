// batch_norm: y_i = xhat_i weight + bias, xhat_i = (x_i - mean) / sigma
// with mean and sigma^2 of each column over the n active rows of all ranks: one exact reduction
// [sum x | sum x^2] before. Backward one more over all rows, [sum dy | sum dy xhat], which is also
// [d bias | d weight]:
//   dx_i = weight / sigma (dy_i - sum(dy) / n - xhat_i sum(dy xhat) / n) for active rows
//   dx_i = weight / sigma dy_i for the others, on which mean and sigma do not depend
// Evaluation uses the running values. Halo rows never enter: every rank sums its own rows.

#include <array>
#include <cmath>

#include "../column_statistics.hpp"
#include "../derivation.hpp"
#include "../tile_context.hpp"
#include "halo/kernels/norms.hpp"

namespace halo::nn {
namespace {

/// Columns are treated in blocks, so that what belongs to a column fits on the stack.
constexpr std::int64_t kBlock = 64;

template <typename T>
MatrixView<T> block_of(MatrixView<T> x, std::int64_t begin) {
  return {x.data + begin, x.rows, std::min(kBlock, x.cols - begin), x.stride};
}

template <typename T>
std::span<T> block_of(std::span<T> values, std::int64_t begin, std::int64_t cols) {
  return values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(cols));
}

using Columns = std::array<kernels::NormColumn, kBlock>;

/// Mean and inverse deviation of columns [begin, begin + cols): of this epoch, or the running ones.
template <typename Real>
std::span<const kernels::NormColumn> columns_of(const op::BatchNorm& norm, const TileContext<Real>& tile,
                                                std::int64_t begin, std::int64_t cols, Columns& columns) {
  const std::int64_t width = tile.input(0).cols;
  for (std::int64_t c = 0; c < cols; ++c) {
    ColumnStatistics column;
    if (norm.sums != kNone) {
      column = column_statistics(tile.reduction(norm.sums), begin + c, width, tile.active_rows());
    } else {
      const auto k = static_cast<std::size_t>(begin + c);
      column = {.mean = static_cast<double>(tile.vector_parameter(norm.running_mean)[k]),
                .variance = static_cast<double>(tile.vector_parameter(norm.running_variance)[k])};
    }
    columns[static_cast<std::size_t>(c)] = {
        .mean = column.mean, .inverse_deviation = 1.0 / std::sqrt(column.variance + norm.epsilon)};
  }
  return std::span(columns).first(static_cast<std::size_t>(cols));
}

}  // namespace

template <typename Real>
void run(const op::BatchNormStatistics& statistics, const TileContext<Real>& tile) {
  kernels::batch_norm_sums(tile.input(0), tile.active(), tile.reduction_terms(statistics.sums));
}

template <typename Real>
void run(const op::BatchNorm& norm, const TileContext<Real>& tile) {
  Columns columns;
  for (std::int64_t begin = 0; begin < tile.input(0).cols; begin += kBlock) {
    const auto x = block_of(tile.input(0), begin);
    kernels::batch_norm<Real>(x, columns_of(norm, tile, begin, x.cols, columns),
                              block_of(tile.vector_parameter(norm.weight), begin, x.cols),
                              block_of(tile.vector_parameter(norm.bias), begin, x.cols),
                              block_of(tile.output(), begin));
  }
}

template <typename Real>
void run(const op::BatchNormGradientSums& sums, const TileContext<Real>& tile) {
  const std::int64_t width = tile.input(0).cols;
  const auto terms = tile.reduction_terms(sums.gradient_sums);
  Columns columns;
  for (std::int64_t begin = 0; begin < width; begin += kBlock) {
    const auto x = block_of(tile.input(0), begin);
    std::array<double, 2 * kBlock> block{};
    const auto of_block = std::span(block).first(static_cast<std::size_t>(2 * x.cols));
    kernels::batch_norm_gradient_sums<Real>(x, block_of(tile.input(1), begin),
                                            columns_of(sums.norm, tile, begin, x.cols, columns), of_block);
    for (std::int64_t c = 0; c < x.cols; ++c) {
      const double d_bias = block[static_cast<std::size_t>(c)];
      const double d_weight = block[static_cast<std::size_t>(x.cols + c)];
      terms[static_cast<std::size_t>(begin + c)] += d_bias;
      terms[static_cast<std::size_t>(width + begin + c)] += d_weight;
      tile.vector_gradient(sums.norm.bias)[static_cast<std::size_t>(begin + c)] += static_cast<Real>(d_bias);
      tile.vector_gradient(sums.norm.weight)[static_cast<std::size_t>(begin + c)] +=
          static_cast<Real>(d_weight);
    }
  }
}

template <typename Real>
void run(const op::BatchNormGradient& gradient, const TileContext<Real>& tile) {
  const std::int64_t width = tile.input(0).cols;
  const std::vector<double>& sums = tile.reduction(gradient.gradient_sums);
  Columns columns;
  for (std::int64_t begin = 0; begin < width; begin += kBlock) {
    const auto x = block_of(tile.input(0), begin);
    std::array<double, 2 * kBlock> means{};
    for (std::int64_t c = 0; c < x.cols; ++c) {
      means[static_cast<std::size_t>(c)] = sums[static_cast<std::size_t>(begin + c)] / tile.active_rows();
      means[static_cast<std::size_t>(x.cols + c)] =
          sums[static_cast<std::size_t>(width + begin + c)] / tile.active_rows();
    }
    kernels::batch_norm_backward<Real>(x, block_of(tile.input(1), begin),
                                       columns_of(gradient.norm, tile, begin, x.cols, columns),
                                       block_of(tile.vector_parameter(gradient.norm.weight), begin, x.cols),
                                       means, tile.active(), block_of(tile.output(), begin));
  }
}

void derive(const op::BatchNorm& norm, const Operation& forward, ValueId dy, Derivation& derivation) {
  const ValueId x = forward.inputs[0];
  const std::int64_t cols = derivation.program().cols(x);
  const ReductionId sums = derivation.add_reduction(2 * cols);
  derivation.emit(op::BatchNormGradientSums{.norm = norm, .gradient_sums = sums}, {x, dy});
  if (!derivation.wanted(x)) return;
  derivation.contribute(
      x, derivation.emit(op::BatchNormGradient{.norm = norm, .gradient_sums = sums}, {x, dy}, cols));
}

template void run(const op::BatchNormStatistics&, const TileContext<float>&);
template void run(const op::BatchNormStatistics&, const TileContext<double>&);
template void run(const op::BatchNorm&, const TileContext<float>&);
template void run(const op::BatchNorm&, const TileContext<double>&);
template void run(const op::BatchNormGradientSums&, const TileContext<float>&);
template void run(const op::BatchNormGradientSums&, const TileContext<double>&);
template void run(const op::BatchNormGradient&, const TileContext<float>&);
template void run(const op::BatchNormGradient&, const TileContext<double>&);

}  // namespace halo::nn
