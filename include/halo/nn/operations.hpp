#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace halo::nn {

using ValueId = std::int32_t;
using ParameterId = std::int32_t;
inline constexpr std::int32_t kNone = -1;

/// Edges a sum runs over: in-edges N(i) forward, out-edges M(j) backward.
enum class Direction { kIn, kOut };

/// Per-row factors that come from the graph.
enum class RowFactor {
  kOne,
  kGcn,            ///< c_i = (deg_i + added loop)^-1/2
  kInverseDegree,  ///< 1 / deg_i, 0 where deg_i = 0
};

enum class Aggregation {
  kGcn,   ///< y_i = c_i (sum_{j in N(i)} w_ij c_j x_j + loop_i c_i x_i)   (Kipf, Welling 2017, equation 2)
  kMean,  ///< y_i = sum_{j in N(i)} w_ij x_j / sum_{j in N(i)} w_ij       (Hamilton et al. 2017, mean)
};

// The operations of a program. x: [owned x d] rows of this rank; every operation but NeighbourSum is
// row-local. A trailing input in brackets is optional.
namespace op {

/// The dataset's feature matrix; constant.
struct Input {};
/// x [, addend] -> x W [+ b] [+ addend]
struct Linear {
  ParameterId weight = kNone;
  ParameterId bias = kNone;
};
/// dy [, addend] -> dy W^T [+ addend]
struct LinearInputGradient {
  ParameterId weight = kNone;
};
/// x, dy -> nothing; dW += x^T dy, db += column sums of dy, summed exactly over all rows of all ranks.
struct LinearWeightGradient {
  ParameterId weight = kNone;
  ParameterId bias = kNone;
};
/// x -> x + b
struct AddBias {
  ParameterId bias = kNone;
};
/// dy -> nothing; db += column sums of dy
struct BiasGradient {
  ParameterId bias = kNone;
};
/// x -> aggregated x; lowered into ScaleRows and NeighbourSum before anything runs.
struct Aggregate {
  Aggregation kind = Aggregation::kMean;
};
/// x -> f_i x_i
struct ScaleRows {
  RowFactor factor = RowFactor::kOne;
};
/// x with its halo rows -> after_i (sum over neighbours of w x_j [+ loop_i x_i])
struct NeighbourSum {
  Direction direction = Direction::kIn;
  bool add_loop = false;
  RowFactor after = RowFactor::kOne;
};
/// x -> max(x, 0)
struct Relu {};
/// y, dy -> dy where y > 0
struct ReluGradient {};
/// x -> inverted dropout of x; its own gradient. `stream` is its number in the model, part of every random
/// key.
struct Dropout {
  double p = 0.0;
  std::uint64_t stream = 0;
};
/// x -> dropout(relu(x))
struct ReluDropout {
  double p = 0.0;
  std::uint64_t stream = 0;
};
/// y, dy -> dy / (1 - p) where y > 0
struct ReluDropoutGradient {
  double p = 0.0;
};
/// a, b -> a + b
struct Add {};
/// logits -> gradient of the mean cross-entropy over all training rows; adds the loss exactly.
struct CrossEntropy {};
/// logits -> nothing; predictions, and per split the loss (exact) and the number of hits.
struct Score {};

}  // namespace op

using Kind =
    std::variant<op::Input, op::Linear, op::LinearInputGradient, op::LinearWeightGradient, op::AddBias,
                 op::BiasGradient, op::Aggregate, op::ScaleRows, op::NeighbourSum, op::Relu, op::ReluGradient,
                 op::Dropout, op::ReluDropout, op::ReluDropoutGradient, op::Add, op::CrossEntropy, op::Score>;

/// One line of a program: output = kind(inputs). Values are assigned once.
struct Operation {
  Kind kind;
  std::vector<ValueId> inputs;
  ValueId output = kNone;
};

/// "linear", "neighbour_sum(in, loop, gcn)": for printing and for recognising equal constants.
std::string describe(const Kind& kind);

}  // namespace halo::nn
