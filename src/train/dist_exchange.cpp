#include "halo/train/dist_exchange.hpp"

namespace halo::train {

DistExchange::DistExchange(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
                           dist::Transport transport, std::int64_t max_cols, int threads)
    : communicator_(communicator),
      in_(communicator, partition.in_plan, transport, max_cols),
      out_(communicator, partition.out_plan, transport, max_cols),
      threads_(threads) {}

void DistExchange::start(nn::Direction direction, MatrixView<float> x) {
  active_ = direction == nn::Direction::kIn ? &in_ : &out_;
  active_->start(x, threads_);
}

void DistExchange::poke() {
  if (active_ != nullptr) active_->poke();
}

void DistExchange::finish() {
  active_->finish();
  active_ = nullptr;
}

void DistExchange::sum(std::span<std::int64_t> values) {
  const Timer timer;
  communicator_.sum(values);
  allreduce_seconds_ += timer.seconds();
}

ExchangeStatistics DistExchange::statistics() const {
  const dist::GatherStatistics& in = in_.statistics();
  const dist::GatherStatistics& out = out_.statistics();
  return {.halo_waited_seconds = in.waited_seconds + out.waited_seconds,
          .allreduce_seconds = allreduce_seconds_,
          .halo_bytes_sent = in.bytes_sent + out.bytes_sent};
}

void DistExchange::reset_statistics() {
  in_.reset_statistics();
  out_.reset_statistics();
  allreduce_seconds_ = 0.0;
}

}  // namespace halo::train
