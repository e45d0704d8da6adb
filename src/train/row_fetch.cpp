#include "row_fetch.hpp"

#include "halo/kernels/rows.hpp"

namespace halo::train {

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
