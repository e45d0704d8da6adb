#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "halo/base/ids.hpp"
#include "halo/base/matrix_view.hpp"
#include "halo/nn/program.hpp"

namespace halo::train {

/// Pairs that a decoder is given at a time.
inline constexpr std::int64_t kDecoderBatch = 64;

/// Says from two rows of the model's output how likely their nodes are joined, as a logit. Symmetric in the
/// rows. Holds what score() leaves for backward(), so each thread has one of its own.
template <typename Real>
class LinkDecoder {
 public:
  virtual ~LinkDecoder() = default;
  /// scores_i = score of x and y_i. x: [d], y: [n x d].
  virtual void score(const Real* x, MatrixView<const Real> y, std::span<Real> scores) = 0;
  /// After score() of the same rows: dx += sum_i dscores_i dscore_i / dx; gradient += the same by the
  /// decoder's parameters, over the pairs with counts_i != 0 only.
  virtual void backward(const Real* x, MatrixView<const Real> y, std::span<const Real> dscores,
                        std::span<const std::uint8_t> counts, std::span<Real> dx,
                        std::span<Real> gradient) = 0;
  /// What the next calls compute with: the decoder's range of the flat buffer.
  virtual void set_parameters(std::span<const Real> parameters) = 0;
};

/// The decoder's part of a model's flat buffer, empty for the dot product: the parameters whose names begin
/// with "decoder.". Error unless they stand together.
RowRange decoder_range(const nn::Program& program);

/// `dot`: <x, y>. `mlp`: two layers on the product column by column, relu(x * y W + b) w + c, W [d x d] (as
/// the link predictor of OGB's examples). InputError on another name.
template <typename Real>
std::unique_ptr<LinkDecoder<Real>> make_decoder(const std::string& name, std::int64_t cols);

}  // namespace halo::train
