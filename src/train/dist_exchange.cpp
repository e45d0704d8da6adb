#include "halo/train/dist_exchange.hpp"

#include <algorithm>

#include "halo/graph/row_levels.hpp"

namespace halo::train {
namespace {

constexpr auto kAllRows = static_cast<std::int8_t>(graph::kLastLevel);

}  // namespace

DistExchange::DistExchange(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
                           const graph::LocalGraph& graph, dist::Transport transport,
                           std::span<const nn::GatherShape> shapes, int threads)
    : communicator_(communicator), symmetric_(graph.symmetric), threads_(threads) {
  std::map<Key, std::int64_t> cols;  // the same order on every rank
  for (const nn::GatherShape& shape : shapes) {
    std::int64_t& widest = cols[key_of(shape.direction, graph.has_levels ? shape.level : kAllRows)];
    widest = std::max(widest, shape.cols);
  }
  for (const auto& [key, widest] : cols) {
    const auto [direction, level] = key;
    const bool in = direction == nn::Direction::kIn;
    const dist::HaloPlan& whole = in ? partition.in_plan : partition.out_plan;
    const auto& halo_level = in ? graph.in.halo_level : graph.out().halo_level;
    const dist::HaloPlan plan = level == kAllRows ? whole
                                                  : dist::plan_to_level(whole, graph.level, halo_level,
                                                                        static_cast<std::uint8_t>(level));
    gathers_.emplace(key, dist::HaloGather<float>(communicator, plan, transport, widest));
  }
}

DistExchange::Key DistExchange::key_of(nn::Direction direction, std::int8_t level) const {
  return {symmetric_ ? nn::Direction::kIn : direction, level};
}

void DistExchange::start(nn::Direction direction, std::int8_t level, MatrixView<float> x) {
  const auto some = gathers_.find(key_of(direction, level));
  active_ = &(some != gathers_.end() ? some : gathers_.find(key_of(direction, kAllRows)))->second;
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
