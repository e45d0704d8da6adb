#include "halo/train/dist_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "halo/base/log.hpp"
#include "halo/dist/transport_choice.hpp"
#include "halo/graph/row_levels.hpp"

namespace halo::train {
namespace {

constexpr auto kAllRows = static_cast<std::int8_t>(graph::kLastLevel);

/// Collective. Rows of a plan for some do not land in place, which costs a buffer and a copy: at least a
/// quarter of them has to stay at home.
bool saves_much(const mpi::Communicator& communicator, const dist::HaloPlan& some,
                const dist::HaloPlan& whole) {
  std::array<std::int64_t, 2> rows = {some.rows_sent(), whole.rows_sent()};
  communicator.sum(std::span<std::int64_t>(rows));
  return rows[0] * 4 <= rows[1] * 3;
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
  if (level != kAllRows) text += fmt::format(", rows to level {}", static_cast<int>(level));
  return text;
}

DistExchange::DistExchange(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
                           const graph::LocalGraph& graph, dist::Transport transport,
                           std::span<const nn::GatherShape> shapes, int threads)
    : communicator_(communicator),
      transport_(choose(communicator, partition.in_plan, graph, transport)),
      symmetric_(graph.symmetric),
      graph_has_levels_(graph.has_levels),
      threads_(threads) {
  std::map<Key, std::int64_t> cols;  // the same order on every rank
  for (const nn::GatherShape& shape : shapes) {
    const Key key = key_of(shape.direction, graph.has_levels ? shape.level : kAllRows);
    cols[key] = std::max(cols[key], shape.cols);
  }
  std::map<Key, dist::HaloPlan> plans;
  for (const auto& [key, widest] : cols) {
    const bool in = key.first == nn::Direction::kIn;
    const dist::HaloPlan& whole = in ? partition.in_plan : partition.out_plan;
    dist::HaloPlan plan = whole;
    if (key.second < kAllRows) {
      plan = dist::plan_to_level(whole, graph.level, in ? graph.in.halo_level : graph.out().halo_level,
                                 static_cast<std::uint8_t>(key.second));
    }
    const bool worth = key.second == kAllRows || saves_much(communicator, plan, whole);
    gather_of_[key] = worth ? key : Key{key.first, kAllRows};
    plans[gather_of_[key]] = worth ? std::move(plan) : dist::HaloPlan(whole);
  }
  for (const auto& [key, plan] : plans) {
    std::int64_t widest = 0;
    for (const auto& [shape, gather] : gather_of_) {
      if (gather == key) widest = std::max(widest, cols[shape]);
    }
    gathers_.emplace(key, dist::HaloGather<float>(communicator, plan, transport_, widest));
  }
}

DistExchange::Key DistExchange::key_of(nn::Direction direction, std::int8_t level) const {
  return {symmetric_ ? nn::Direction::kIn : direction, level};
}

void DistExchange::start(nn::Direction direction, std::int8_t level, MatrixView<float> x) {
  const std::int8_t rows = graph_has_levels_ ? level : kAllRows;
  active_ = &gathers_.at(gather_of_.at(key_of(direction, rows)));
  active_key_ = {direction, rows, x.cols};
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
