#include "halo/train/dist_exchange.hpp"

#include <fmt/format.h>

#include <utility>

#include "halo/base/log.hpp"
#include "halo/dist/transport_choice.hpp"

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

/// Collective. Measures where the transport is to be chosen; rank 0 says what it saw.
dist::Transport choose(const mpi::Communicator& communicator, const dist::HaloPlan& plan,
                       const graph::LocalGraph& graph, dist::Transport wanted) {
  if (wanted != dist::Transport::kAuto) return wanted;
  const auto times = dist::measure_transports(communicator, plan, graph);
  if (communicator.rank() == 0) {
    std::string text;
    for (const auto& [transport, seconds] : times)
      text += fmt::format("{}{} {:.3f} ms", text.empty() ? "" : ", ", to_string(transport), seconds * 1e3);
    spdlog::info("transport {} (a gather of 16 columns: {})", to_string(times.front().transport), text);
  }
  return times.front().transport;
}

}  // namespace

std::string to_text(const GatherKey& key) {
  const auto& [direction, level, cols] = key;
  std::string text = fmt::format("halo {}, {} columns", direction == nn::Direction::kIn ? "in" : "out", cols);
  if (!fetches_all(level)) text += fmt::format(", rows to level {}", static_cast<int>(level));
  return text;
}

DistExchange::DistExchange(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
                           const graph::LocalGraph& graph, dist::Transport transport,
                           std::span<const nn::GatherShape> shapes, int threads)
    : communicator_(communicator),
      transport_(choose(communicator, partition.in_plan, graph, transport)),
      choice_(shapes, graph.symmetric, graph.has_levels, count_sent(communicator, partition, graph)),
      threads_(threads) {
  for (const auto& [key, cols] : choice_.cols()) {  // the same order on every rank
    const bool in = key.first == nn::Direction::kIn;
    const dist::HaloPlan& whole = in ? partition.in_plan : partition.out_plan;
    if (fetches_all(key.second)) {
      gathers_.emplace(key, dist::HaloGather<float>(communicator, whole, transport_, cols));
      continue;
    }
    const auto plan =
        dist::plan_to_level(whole, graph.level, in ? graph.in.halo_level : graph.out().halo_level,
                            static_cast<std::uint8_t>(key.second));
    gathers_.emplace(key, dist::HaloGather<float>(communicator, plan, transport_, cols));
  }
}

void DistExchange::start(nn::Direction direction, std::int8_t level, MatrixView<float> x) {
  const GatherChoice::Key key = choice_.key_of(direction, level);
  active_ = &gathers_.at(key);
  active_key_ = {direction, key.second, x.cols};
  active_->start(x, threads_);
}

void DistExchange::poke() {
  if (active_ != nullptr) active_->poke();
}

void DistExchange::finish() {
  active_->finish();
  figures_[active_key_].add(active_->last());  // allocates in the first epoch only
  if (recorder_ != nullptr) record(active_->last());
  active_ = nullptr;
}

void DistExchange::record(const dist::GatherRecord& gather) {
  const auto [label, is_new] = labels_.try_emplace(active_key_, -1);
  if (is_new) label->second = recorder_->label(to_text(active_key_));
  const auto add = [&, of = label->second](TraceKind kind, std::int64_t begin, std::int64_t end) {
    recorder_->add({.begin = begin, .end = end, .value = gather.bytes_sent, .label = of, .kind = kind});
  };
  add(TraceKind::kPack, gather.packing, gather.posted);
  add(TraceKind::kWait, gather.waiting, gather.finished);
  add(TraceKind::kGather, gather.posted, gather.arrived);
}

void DistExchange::sum(std::span<std::int64_t> values) {
  const std::int64_t begin = steady_nanoseconds();
  communicator_.sum(values);
  const std::int64_t end = steady_nanoseconds();
  allreduce_seconds_ += static_cast<double>(end - begin) * 1e-9;
  if (recorder_ == nullptr) return;
  recorder_->add({.begin = begin,
                  .end = end,
                  .value = static_cast<std::int64_t>(values.size_bytes()),
                  .kind = TraceKind::kAllreduce});
}

ExchangeStatistics DistExchange::statistics() const {
  ExchangeStatistics total = {.allreduce_seconds = allreduce_seconds_};
  for (const auto& [key, figures] : figures_) {
    total.halo_waited_seconds += figures.waited_seconds;
    total.halo_hidden_seconds += figures.hidden_seconds;
    total.halo_bytes_sent += figures.bytes_sent;
  }
  return total;
}

void DistExchange::reset_statistics() {
  for (auto& [key, figures] : figures_) figures = {};
  allreduce_seconds_ = 0.0;
}

}  // namespace halo::train
