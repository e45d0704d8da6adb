#include "halo/train/dist_exchange.hpp"

#include <utility>

namespace halo::train {
namespace {

/// Collective.
SentRows count_sent(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
                    const graph::LocalGraph& graph) {
  SentRows sent{};
  for (const auto& [plan, counts] :
       {std::pair(&partition.in_plan, &sent[0]), std::pair(&partition.out_plan, &sent[1])}) {
    for (const LocalId row : plan->send_rows) ++(*counts)[graph.has_levels ? graph.level[at(row)] : 0];
    communicator.sum(std::span<std::int64_t>(*counts));
  }
  return sent;
}

}  // namespace

DistExchange::DistExchange(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
                           const graph::LocalGraph& graph, dist::Transport transport,
                           std::span<const nn::GatherShape> shapes, int threads)
    : communicator_(communicator),
      choice_(shapes, graph.symmetric, graph.has_levels, count_sent(communicator, partition, graph)),
      threads_(threads) {
  for (const auto& [key, cols] : choice_.cols()) {  // the same order on every rank
    const bool in = key.first == nn::Direction::kIn;
    const dist::HaloPlan& whole = in ? partition.in_plan : partition.out_plan;
    if (fetches_all(key.second)) {
      gathers_.emplace(key, dist::HaloGather<float>(communicator, whole, transport, cols));
      continue;
    }
    const auto plan =
        dist::plan_to_level(whole, graph.level, in ? graph.in.halo_level : graph.out().halo_level,
                            static_cast<std::uint8_t>(key.second));
    gathers_.emplace(key, dist::HaloGather<float>(communicator, plan, transport, cols));
  }
}

void DistExchange::start(nn::Direction direction, std::int8_t level, MatrixView<float> x) {
  active_ = &gathers_.at(choice_.key_of(direction, level));
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
  for (const auto& [key, gather] : gathers_) {
    total.halo_waited_seconds += gather.statistics().waited_seconds;
    total.halo_bytes_sent += gather.statistics().bytes_sent;
  }
  return total;
}

void DistExchange::reset_statistics() {
  for (auto& [key, gather] : gathers_) gather.reset_statistics();
  allreduce_seconds_ = 0.0;
}

}  // namespace halo::train
