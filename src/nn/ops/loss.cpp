// cross_entropy: loss = 1/n sum over training rows of -log softmax(x_i)[label_i], n = training rows of all
// ranks
//   x: [t x classes]   dx_i = (softmax(x_i) - onehot(label_i)) / n, 0 for other rows
// score: per split the same loss and the number of rows whose largest column is the label (lowest column on
// ties)

#include "../tile_context.hpp"
#include "halo/kernels/rows.hpp"

namespace halo::nn {

template <typename Real>
void run(const op::CrossEntropy&, const TileContext<Real>& tile) {
  constexpr int kTrain = 0;
  const double loss =
      kernels::softmax_cross_entropy(tile.input(0), tile.labels(), tile.split_rows(kTrain),
                                     1.0 / static_cast<double>(tile.split_count(kTrain)), tile.output());
  tile.add_loss(kTrain, loss);
}

template <typename Real>
void run(const op::Score&, const TileContext<Real>& tile) {
  const auto predictions = tile.predictions();
  const auto labels = tile.labels();
  kernels::argmax_rows(tile.input(0), predictions);
  for (int split = 0; split < kSplits; ++split) {
    const auto rows = tile.split_rows(split);
    tile.add_loss(split,
                  kernels::softmax_cross_entropy(tile.input(0), labels, rows, 0.0, MatrixView<Real>{}));
    std::int64_t hits = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) hits += rows[r] != 0 && predictions[r] == labels[r] ? 1 : 0;
    tile.add_hits(split, hits);
  }
}

template void run(const op::CrossEntropy&, const TileContext<float>&);
template void run(const op::CrossEntropy&, const TileContext<double>&);
template void run(const op::Score&, const TileContext<float>&);
template void run(const op::Score&, const TileContext<double>&);

}  // namespace halo::nn
