#pragma once

#include <span>
#include <vector>

#include "halo/base/buffer.hpp"
#include "halo/base/matrix_view.hpp"
#include "halo/dist/halo_plan.hpp"
#include "halo/mpi/communicator.hpp"
#include "halo/mpi/row_exchange.hpp"

namespace halo::train {

/// Rows of chosen nodes of other ranks, beside those of this rank: one exchange for each fetch. Unlike
/// dist::HaloGather it takes the owned rows as they are and keeps the fetched ones itself, since its nodes
/// may be others each time.
template <typename Real>
class RowFetch {
 public:
  /// Collective. `nodes`: ascending, distinct, none of this rank's own.
  RowFetch(const mpi::Communicator& communicator, const dist::Ownership& ownership,
           std::span<const NodeId> nodes);

  /// Collective. `owned`: all rows of this rank; the view must stay until the last row().
  void fetch(MatrixView<const Real> owned);
  /// Row of an owned local id, or of owned + i for the i-th of `nodes`.
  const Real* row(LocalId id) const {
    return id < owned_.rows ? owned_.row(id) : fetched_.data() + (id - owned_.rows) * owned_.cols;
  }
  std::int64_t cols() const { return owned_.cols; }

 private:
  dist::HaloPlan plan_;
  Buffer<Real> packed_;  ///< before exchange_, which must be complete before it goes
  Buffer<Real> fetched_;
  mpi::RowExchange exchange_;
  MatrixView<const Real> owned_;
};

}  // namespace halo::train
