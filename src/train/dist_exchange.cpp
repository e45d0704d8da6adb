#include "halo/train/dist_exchange.hpp"

namespace halo::train {

DistExchange::DistExchange(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
                           dist::Transport transport, std::int64_t max_cols, int threads)
    : communicator_(communicator),
      in_(communicator, partition.in_plan, transport, max_cols),
      threads_(threads) {
  if (!partition.graph.symmetric) out_.emplace(communicator, partition.out_plan, transport, max_cols);
}

void DistExchange::start(nn::Direction direction, MatrixView<float> x) {
  active_ = direction == nn::Direction::kOut && out_ ? &*out_ : &in_;
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
  ExchangeStatistics total = {.allreduce_seconds = allreduce_seconds_};
  for (const dist::HaloGather<float>* gather : {&in_, out_ ? &*out_ : nullptr}) {
    if (gather == nullptr) continue;
    total.halo_waited_seconds += gather->statistics().waited_seconds;
    total.halo_bytes_sent += gather->statistics().bytes_sent;
  }
  return total;
}

void DistExchange::reset_statistics() {
  in_.reset_statistics();
  if (out_) out_->reset_statistics();
  allreduce_seconds_ = 0.0;
}

}  // namespace halo::train
