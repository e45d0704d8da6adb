#pragma once

#include <cstddef>
#include <cstdint>

namespace halo::nn {

using ValueId = std::int32_t;
using ParameterId = std::int32_t;
using ReductionId = std::int32_t;
inline constexpr std::int32_t kNone = -1;

/// Edges a sum runs over: in-edges N(i) forward, out-edges M(j) backward.
enum class Direction { kIn, kOut };

/// Which input of an operation has to have its halo rows, and of which edges.
struct Gather {
  std::size_t input = 0;
  Direction direction = Direction::kIn;
};

/// Per-row factors that come from the graph. None is 0: what was multiplied can be had back.
enum class RowFactor {
  kOne,
  kGcn,            ///< c_i = (deg_i + added loop)^-1/2; 2^-60, as good as 0, where negative weights forbid it
  kInverseDegree,  ///< 1 / deg_i; 1 where deg_i = 0
};

enum class Aggregation {
  kGcn,   ///< y_i = c_i (sum_{j in N(i)} w_ij c_j x_j + loop_i c_i x_i)   (Kipf, Welling 2017, equation 2)
  kMean,  ///< y_i = sum_{j in N(i)} w_ij x_j / sum_{j in N(i)} w_ij       (Hamilton et al. 2017, mean)
  kSum,   ///< y_i = sum_{j in N(i)} w_ij x_j                              (Xu et al. 2019)
};

enum class ActivationKind { kElu, kLeakyRelu };

}  // namespace halo::nn
