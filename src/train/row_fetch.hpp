#pragma once

#include <span>
#include <vector>

#include "halo/base/buffer.hpp"
#include "halo/base/ids.hpp"
#include "halo/base/matrix_view.hpp"
#include "halo/dist/halo_plan.hpp"
#include "halo/mpi/communicator.hpp"
#include "halo/mpi/row_exchange.hpp"

namespace halo::train {

/// Nodes of other ranks, and the local ids by which RowFetch knows them beside the owned nodes.
class RemoteNodes {
 public:
  explicit RemoteNodes(RowRange owned) : owned_(owned) {}

  /// Any node, any number of times; owned ones need no place.
  void add(NodeId node) {
    if (!owns(node)) ids_.push_back(node);
  }
  /// After the last add(), before local(). Error, which names `what`, where the nodes pass a LocalId.
  void number(const char* what);
  /// Of an owned or an added node.
  LocalId local(NodeId node) const;
  /// Ascending, distinct.
  const std::vector<NodeId>& ids() const { return ids_; }

 private:
  bool owns(NodeId node) const { return node >= owned_.begin && node < owned_.end; }

  RowRange owned_;
  std::vector<NodeId> ids_;
};

/// Rows of chosen nodes of other ranks, beside those of this rank. Unlike dist::HaloGather it takes the owned
/// rows as they are and keeps the fetched ones itself, since its nodes may be others each time.
///
/// To make one costs make_halo_plan(), that is two agreements and two all-to-all calls (counts, node ids),
/// and a communicator with the graph of the neighbours, set up collectively and freed with it; each fetch()
/// is one exchange between neighbours, which no work overlaps. The transport that a run chooses is that of
/// dist::HaloGather alone, and so are the figures of traffic: these rows are not among them.
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
