#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "halo/nn/edge_operations.hpp"
#include "halo/nn/operation_types.hpp"

namespace halo::nn {

// The operations of a program. x: [owned x d] rows of this rank. An operation with gathers() reads the halo
// rows of one input; every other is row-local. A trailing input in brackets is optional.
//
// What the passes want to know of an operation, an operation says by members (read through
// src/nn/traits.hpp):
//   kName                  for printing and for recognising equal constants, with details() where
//                          it has options
//   gathers()              the input whose halo rows it reads
//   needs_neighbour_ids()  it reads the original ids of the halo
//   kInPlace               output and inputs of equal width may be the same memory
//   kProtected             but for so many of the first inputs
//   kCheap                 row-local, with no effect but its output and a few machine operations per element:
//                          cheaper done again than stored and loaded
//   kExact                 it compares or exponentiates inputs: they must be as they were computed
//   kFoldable              a result of constants is a constant
//   kLearnt                the result is learnt though it reads no parameter
//   parameters()           learnt matrices it reads
//   gradients()            those whose gradient it adds to
//   reads(), writes()      reductions over all rows of all ranks
namespace op {

/// The dataset's feature matrix; constant.
struct Input {
  static constexpr const char* kName = "input";
  static constexpr bool kFoldable = true;
};
/// Learnt rows, one for each owned node, kept with the nodes.
struct Embedding {
  static constexpr const char* kName = "embedding";
  static constexpr bool kLearnt = true;
};
/// dy -> nothing; the gradient of the embedding.
struct EmbeddingGradient {
  static constexpr const char* kName = "embedding_gradient";
};

/// x [, addend] -> x W [+ b] [+ addend]
struct Linear {
  static constexpr const char* kName = "linear";
  static constexpr bool kInPlace = true;
  static constexpr std::size_t kProtected = 1;
  ParameterId weight = kNone;
  ParameterId bias = kNone;
  std::vector<ParameterId> parameters() const { return {weight, bias}; }
};
/// dy [, addend] -> dy W^T [+ addend]
struct LinearInputGradient {
  static constexpr const char* kName = "linear_input_gradient";
  static constexpr bool kInPlace = true;
  static constexpr std::size_t kProtected = 1;
  ParameterId weight = kNone;
};
/// x, dy -> nothing; dW += x^T dy, db += column sums of dy, summed exactly over all rows of all ranks.
struct LinearWeightGradient {
  static constexpr const char* kName = "linear_weight_gradient";
  ParameterId weight = kNone;
  ParameterId bias = kNone;
  std::vector<ParameterId> gradients() const { return {weight, bias}; }
};
/// x -> x + b
struct AddBias {
  static constexpr const char* kName = "add_bias";
  static constexpr bool kCheap = true;
  static constexpr bool kInPlace = true;
  ParameterId bias = kNone;
  std::vector<ParameterId> parameters() const { return {bias}; }
};
/// dy -> nothing; db += column sums of dy
struct BiasGradient {
  static constexpr const char* kName = "bias_gradient";
  ParameterId bias = kNone;
  std::vector<ParameterId> gradients() const { return {bias}; }
};

/// x -> aggregated x; lowered into ScaleRows and NeighbourSum before anything runs.
struct Aggregate {
  static constexpr const char* kName = "aggregate";
  static constexpr bool kFoldable = true;
  Aggregation kind = Aggregation::kMean;
  std::string details() const;
};
/// x -> f_i x_i, or x_i / f_i
struct ScaleRows {
  static constexpr const char* kName = "scale_rows";
  static constexpr bool kCheap = true;
  static constexpr bool kInPlace = true;
  static constexpr bool kFoldable = true;
  RowFactor factor = RowFactor::kOne;
  bool inverse = false;
  std::string details() const;
};
/// x with its halo rows -> after_i (sum over neighbours of w x_j [+ loop_i x_i])
struct NeighbourSum {
  static constexpr const char* kName = "neighbour_sum";
  static constexpr bool kFoldable = true;
  Direction direction = Direction::kIn;
  bool add_loop = false;
  RowFactor after = RowFactor::kOne;
  bool half = false;  ///< x is packed
  std::optional<Gather> gathers() const { return Gather{.input = 0, .direction = direction}; }
  std::string details() const;
};

/// x -> max(x, 0)
struct Relu {
  static constexpr const char* kName = "relu";
  static constexpr bool kCheap = true;
  static constexpr bool kInPlace = true;
  static constexpr bool kFoldable = true;
};
/// y, dy -> dy where y > 0
struct ReluGradient {
  static constexpr const char* kName = "relu_gradient";
  static constexpr bool kInPlace = true;
};
/// x -> elu(x) = x or exp(x) - 1, or leaky_relu(x) = x or slope x, for x > 0 or not
struct Activation {
  static constexpr const char* kName = "activation";
  static constexpr bool kCheap = true;
  static constexpr bool kInPlace = true;
  static constexpr bool kFoldable = true;
  ActivationKind kind = ActivationKind::kElu;
  double slope = 0.01;
  std::string details() const;
};
/// y, dy -> dx
struct ActivationGradient {
  static constexpr const char* kName = "activation_gradient";
  static constexpr bool kInPlace = true;
  ActivationKind kind = ActivationKind::kElu;
  double slope = 0.01;
};
/// x -> inverted dropout of x; its own gradient. `stream` is its number in the model, part of every random
/// key.
struct Dropout {
  static constexpr const char* kName = "dropout";
  static constexpr bool kCheap = true;
  static constexpr bool kInPlace = true;
  double p = 0.0;
  std::uint64_t stream = 0;
  std::string details() const;
};
/// x -> dropout(relu(x))
struct ReluDropout {
  static constexpr const char* kName = "relu_dropout";
  static constexpr bool kCheap = true;
  static constexpr bool kInPlace = true;
  double p = 0.0;
  std::uint64_t stream = 0;
  std::string details() const;
};
/// y, dy -> dy / (1 - p) where y > 0
struct ReluDropoutGradient {
  static constexpr const char* kName = "relu_dropout_gradient";
  static constexpr bool kInPlace = true;
  double p = 0.0;
  std::string details() const;
};

/// a, b -> a + b
struct Add {
  static constexpr const char* kName = "add";
  static constexpr bool kCheap = true;
  static constexpr bool kInPlace = true;
  static constexpr bool kFoldable = true;
};
/// a, b -> alpha a + beta b, constant alpha and beta
struct Combine {
  static constexpr const char* kName = "combine";
  static constexpr bool kCheap = true;
  static constexpr bool kInPlace = true;
  static constexpr bool kFoldable = true;
  double alpha = 1.0;
  double beta = 1.0;
  std::string details() const;
};
/// x -> factor x
struct Scale {
  static constexpr const char* kName = "scale";
  static constexpr bool kCheap = true;
  static constexpr bool kInPlace = true;
  static constexpr bool kFoldable = true;
  double factor = 1.0;
  std::string details() const;
};
/// a, x -> a + (1 + epsilon) x, epsilon a scalar, learnt or fixed      (Xu et al. 2019, equation 4.1)
struct AddScaled {
  static constexpr const char* kName = "add_scaled";
  static constexpr bool kCheap = true;
  static constexpr bool kInPlace = true;
  ParameterId epsilon = kNone;
  bool learnt = true;
  std::vector<ParameterId> parameters() const { return {learnt ? epsilon : kNone}; }
};
/// dy [, x] -> (1 + epsilon) dy; with x, where epsilon is learnt, d epsilon += sum of dy x
struct AddScaledGradient {
  static constexpr const char* kName = "add_scaled_gradient";
  static constexpr bool kInPlace = true;
  ParameterId epsilon = kNone;
  bool learnt = true;
  std::vector<ParameterId> gradients() const { return {learnt ? epsilon : kNone}; }
};
/// a, b, ... -> [a | b | ...]
struct Concat {
  static constexpr const char* kName = "concat";
  static constexpr bool kCheap = true;
  static constexpr bool kFoldable = true;
};
/// x -> columns [begin, begin + width of the output) of x
struct Columns {
  static constexpr const char* kName = "columns";
  static constexpr bool kCheap = true;
  std::int64_t begin = 0;
  std::string details() const;
};
/// a, b, ... -> the largest, element by element
struct Maximum {
  static constexpr const char* kName = "maximum";
  static constexpr bool kFoldable = true;
};
/// a, b, ..., dy -> dy where input `which` is the first of the largest, else 0
struct MaximumGradient {
  static constexpr const char* kName = "maximum_gradient";
  static constexpr bool kExact = true;
  std::size_t which = 0;
};
/// x [n x heads C] -> mean over heads [n x C]
struct HeadMean {
  static constexpr const char* kName = "head_mean";
  static constexpr bool kCheap = true;
  int heads = 1;
};
/// dy [n x C] -> dy / heads for each head [n x heads C]
struct HeadMeanGradient {
  static constexpr const char* kName = "head_mean_gradient";
  int heads = 1;
};

/// x -> x / max(|x_i|, 1e-12), row by row; zero rows stay zero
struct L2Norm {
  static constexpr const char* kName = "l2_norm";
  static constexpr bool kCheap = true;
  static constexpr bool kInPlace = true;
  static constexpr bool kFoldable = true;
};
/// x, dy -> dx; zero rows get zero
struct L2NormGradient {
  static constexpr const char* kName = "l2_norm_gradient";
  static constexpr bool kInPlace = true;
};
/// x -> (x - mean_i) / sqrt(variance_i + eps) * weight + bias, statistics of the row (Ba et al. 2016)
struct LayerNorm {
  static constexpr const char* kName = "layer_norm";
  static constexpr bool kCheap = true;
  static constexpr bool kInPlace = true;
  ParameterId weight = kNone;
  ParameterId bias = kNone;
  double epsilon = 1e-5;
  std::vector<ParameterId> parameters() const { return {weight, bias}; }
};
/// x, dy -> dx; adds the gradients of weight and bias
struct LayerNormGradient {
  static constexpr const char* kName = "layer_norm_gradient";
  static constexpr bool kInPlace = true;
  ParameterId weight = kNone;
  ParameterId bias = kNone;
  double epsilon = 1e-5;
  std::vector<ParameterId> gradients() const { return {weight, bias}; }
};
/// x -> nothing; reduction [sum x | sum x^2] over the active rows of all ranks
struct BatchNormStatistics {
  static constexpr const char* kName = "batch_norm_statistics";
  ReductionId sums = kNone;
  std::vector<ReductionId> writes() const { return {sums}; }
};
/// x -> (x - mean) / sqrt(variance + eps) * weight + bias, column statistics of all ranks (Ioffe, Szegedy
/// 2015); with `sums` kNone those of the running values, which training moves by `momentum`.
struct BatchNorm {
  static constexpr const char* kName = "batch_norm";
  static constexpr bool kInPlace = true;
  ParameterId weight = kNone;
  ParameterId bias = kNone;
  ParameterId running_mean = kNone;      ///< not learnt
  ParameterId running_variance = kNone;  ///< not learnt
  ReductionId sums = kNone;
  double epsilon = 1e-5;
  double momentum = 0.1;
  std::vector<ParameterId> parameters() const { return {weight, bias}; }
  std::vector<ReductionId> reads() const { return {sums}; }
};
/// x, dy -> nothing; reduction [sum dy | sum dy xhat] over all rows of all ranks; the same are the gradients
/// of bias and weight
struct BatchNormGradientSums {
  static constexpr const char* kName = "batch_norm_gradient_sums";
  BatchNorm norm;
  ReductionId gradient_sums = kNone;
  std::vector<ParameterId> gradients() const { return {norm.weight, norm.bias}; }
  std::vector<ReductionId> reads() const { return {norm.sums}; }
  std::vector<ReductionId> writes() const { return {gradient_sums}; }
};
/// x, dy -> dx = weight / sigma (dy - mean(dy) - xhat mean(dy xhat))
struct BatchNormGradient {
  static constexpr const char* kName = "batch_norm_gradient";
  static constexpr bool kInPlace = true;
  BatchNorm norm;
  ReductionId gradient_sums = kNone;
  std::vector<ReductionId> reads() const { return {norm.sums, gradient_sums}; }
};

/// x -> x stored at half width (halo/kernels/half_rows.hpp), [t x half_cols(d)]
struct PackHalf {
  static constexpr const char* kName = "pack_half";
};
/// x stored at half width -> x
struct UnpackHalf {
  static constexpr const char* kName = "unpack_half";
};

/// logits -> gradient of the mean loss over all training rows; adds the loss exactly. The dataset's task says
/// which loss: cross-entropy with label smoothing and class weights, binary cross-entropy (multi-label),
/// squared or absolute error (regression).
struct Loss {
  static constexpr const char* kName = "loss";
};
/// outputs -> their gradient, computed by a RowLoss (row_loss.hpp) over all rows at once
struct ExternalLoss {
  static constexpr const char* kName = "external_loss";
};
/// logits -> nothing; predictions, and per split the loss (exact) and what the metrics count.
struct Score {
  static constexpr const char* kName = "score";
};

}  // namespace op

using Kind = std::variant<
    op::Input, op::Embedding, op::EmbeddingGradient, op::Linear, op::LinearInputGradient,
    op::LinearWeightGradient, op::AddBias, op::BiasGradient, op::Aggregate, op::ScaleRows, op::NeighbourSum,
    op::Relu, op::ReluGradient, op::Activation, op::ActivationGradient, op::Dropout, op::ReluDropout,
    op::ReluDropoutGradient, op::Add, op::Combine, op::Scale, op::AddScaled, op::AddScaledGradient,
    op::Concat, op::Columns, op::Maximum, op::MaximumGradient, op::HeadMean, op::HeadMeanGradient, op::L2Norm,
    op::L2NormGradient, op::LayerNorm, op::LayerNormGradient, op::BatchNormStatistics, op::BatchNorm,
    op::BatchNormGradientSums, op::BatchNormGradient, op::AttentionScores, op::AttentionScoresGradient,
    op::AttentionNormaliser, op::AttentionSum, op::AttentionBackwardPack, op::AttentionSourceGradient,
    op::AttentionTargetGradient, op::AttentionV2Normaliser, op::AttentionV2Sum, op::AttentionV2BackwardPack,
    op::AttentionV2SourceGradient, op::AttentionV2TargetGradient, op::NeighbourMax, op::NeighbourMaxShare,
    op::NeighbourMaxGradient, op::PackHalf, op::UnpackHalf, op::Loss, op::ExternalLoss, op::Score>;

/// One line of a program: output = kind(inputs). Values are assigned once.
struct Operation {
  Kind kind;
  std::vector<ValueId> inputs;
  ValueId output = kNone;
  bool with_next = false;  ///< runs in the stage of the operation behind it, though that begins one
};

/// "linear", "neighbour_sum(in, loop, gcn)": for printing and for recognising equal constants.
std::string describe(const Kind& kind);

}  // namespace halo::nn
