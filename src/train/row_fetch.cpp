#include "row_fetch.hpp"

#include <algorithm>

#include "halo/base/checked_cast.hpp"
#include "halo/kernels/rows.hpp"

namespace halo::train {

void RemoteNodes::number(const char* what) {
  std::ranges::sort(ids_);
  ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
  checked_cast<LocalId>(owned_.size() + std::ssize(ids_), what);
}

LocalId RemoteNodes::local(NodeId node) const {
  if (owns(node)) return static_cast<LocalId>(node - owned_.begin);
  return static_cast<LocalId>(owned_.size() + (std::ranges::lower_bound(ids_, node) - ids_.begin()));
}

template <typename Real>
RowFetch<Real>::RowFetch(const mpi::Communicator& communicator, const dist::Ownership& ownership,
                         std::span<const NodeId> nodes)
    : plan_(dist::make_halo_plan(communicator, ownership, nodes)),
      exchange_(communicator, {.send_to = plan_.send_to,
                               .send_offsets = plan_.send_offsets,
                               .receive_from = plan_.receive_from,
                               .receive_offsets = plan_.receive_offsets}) {}

template <typename Real>
void RowFetch<Real>::fetch(MatrixView<const Real> owned) {
  owned_ = owned;
  if (packed_.size() != plan_.rows_sent() * owned.cols)
    packed_ = Buffer<Real>(plan_.rows_sent() * owned.cols);
  if (fetched_.size() != plan_.rows_received() * owned.cols)
    fetched_ = Buffer<Real>(plan_.rows_received() * owned.cols);
  kernels::pack_rows<Real>(owned, plan_.send_rows, {packed_.data(), plan_.rows_sent(), owned.cols});
  exchange_.start(mpi::RowExchange::Call::kNonblocking, packed_.data(), fetched_.data(), owned.cols);
  exchange_.wait();
}

template class RowFetch<float>;
template class RowFetch<double>;

}  // namespace halo::train
