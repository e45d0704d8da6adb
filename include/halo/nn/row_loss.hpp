#pragma once

#include <cstdint>
#include <span>

#include "halo/base/matrix_view.hpp"

namespace halo::nn {

/// A loss computed outside of the static program, once per epoch between forward and backward: for losses
/// that pair rows in ways that change from epoch to epoch.
template <typename Real>
class RowLoss {
 public:
  virtual ~RowLoss() = default;
  /// Collective. h: [owned x d], the model's output; fills dh [owned x d] with dLoss/dh; adds the gradient of
  /// parameters of its own to `gradient` (flat, as the parameters): summed over the ranks, the same bits on
  /// every rank, as nobody sums it again. Returns the loss, the same on every rank.
  virtual double compute(MatrixView<const Real> h, std::span<const Real> parameters, std::uint64_t seed,
                         std::uint64_t epoch, MatrixView<Real> dh, std::span<Real> gradient) = 0;
};

}  // namespace halo::nn
