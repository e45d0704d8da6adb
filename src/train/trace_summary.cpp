#include "trace_summary.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "exchange_waits.hpp"

namespace halo::train {
namespace {

double seconds_of(const TraceEvent& event) {
  return static_cast<double>(event.end - event.begin) / 1e9;
}

bool is_groups(TraceKind kind) {
  return kind == TraceKind::kInterior || kind == TraceKind::kBoundary || kind == TraceKind::kGroups;
}

/// Epoch events, oldest first.
std::vector<TraceEvent> epochs_of(std::span<const TraceEvent> events) {
  std::vector<TraceEvent> epochs;
  std::copy_if(events.begin(), events.end(), std::back_inserter(epochs),
               [](const TraceEvent& event) { return event.kind == TraceKind::kEpoch; });
  return epochs;
}

/// Collective. Which of `epochs` has the median length on rank 0; all ranks have at least `count`.
std::size_t median_epoch(const mpi::Communicator& communicator, const std::vector<TraceEvent>& epochs,
                         std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::int64_t>(k);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  std::nth_element(order.begin(), middle, order.end(), [&](std::int64_t a, std::int64_t b) {
    return seconds_of(epochs[static_cast<std::size_t>(a)]) < seconds_of(epochs[static_cast<std::size_t>(b)]);
  });
  std::int64_t chosen = *middle;
  communicator.broadcast(std::as_writable_bytes(std::span(&chosen, 1)), 0);
  return static_cast<std::size_t>(chosen);
}

nlohmann::json list_parts(const RunTrace& trace, const std::vector<double>& seconds, double epoch_seconds) {
  const std::vector<std::string>& labels = trace.recorder().labels();
  nlohmann::json parts = nlohmann::json::array();
  for (std::size_t k = 0; k < seconds.size(); ++k) {
    if (seconds[k] <= 0.0) continue;
    const auto kind = static_cast<TraceKind>(k - labels.size());
    const std::string name = k < labels.size()           ? labels[k]
                             : kind == TraceKind::kEpoch ? "other"
                                                         : to_string(kind);
    parts.push_back({{"name", name}, {"seconds", seconds[k]}, {"share", seconds[k] / epoch_seconds}});
  }
  return parts;
}

}  // namespace

std::vector<double> seconds_by_part(const TraceRecorder& recorder, std::span<const TraceEvent> events) {
  std::vector<TraceEvent> own;
  std::copy_if(events.begin(), events.end(), std::back_inserter(own), [](const TraceEvent& event) {
    return event.thread == 0 && event.kind != TraceKind::kGather;  // in flight beside all else
  });
  // What holds another comes before it.
  std::stable_sort(own.begin(), own.end(), [](const TraceEvent& a, const TraceEvent& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<double> seconds(recorder.labels().size() + kTraceKinds, 0.0);
  struct Open {
    std::int64_t end;
    std::size_t part;
  };
  std::vector<Open> open;
  const std::size_t evaluation = recorder.labels().size() + static_cast<std::size_t>(TraceKind::kEvaluation);
  for (const TraceEvent& event : own) {
    while (!open.empty() && open.back().end < event.end) open.pop_back();
    std::size_t part = recorder.labels().size() + static_cast<std::size_t>(event.kind);
    if (event.kind == TraceKind::kStage) part = static_cast<std::size_t>(event.label);
    if (!open.empty() && (is_groups(event.kind) || open.back().part == evaluation)) part = open.back().part;
    if (!open.empty()) seconds[open.back().part] -= seconds_of(event);
    seconds[part] += seconds_of(event);
    open.push_back({event.end, part});
  }
  return seconds;
}

nlohmann::json summarise_trace(const mpi::Communicator& communicator, const RunTrace& trace,
                               std::span<const TraceEvent> events) {
  const std::vector<TraceEvent> epochs = epochs_of(events);
  std::int64_t figures[] = {-std::ssize(epochs), trace.recorder().dropped()};
  communicator.max(std::span<std::int64_t>(figures));
  const std::int64_t count = -figures[0];
  nlohmann::json summary = {{"epochs", count}, {"dropped_events", figures[1]}};
  if (count == 0) return communicator.rank() == 0 ? summary : nullptr;

  const TraceEvent& epoch = epochs[median_epoch(communicator, epochs, count)];
  std::vector<TraceEvent> within;
  std::copy_if(events.begin(), events.end(), std::back_inserter(within),
               [&](const TraceEvent& event) { return event.begin >= epoch.begin && event.end <= epoch.end; });
  std::vector<double> seconds = seconds_by_part(trace.recorder(), within);
  seconds.push_back(seconds_of(epoch));
  communicator.sum(std::span<double>(seconds));
  for (double& part : seconds) part /= communicator.size();
  const double epoch_seconds = seconds.back();
  seconds.pop_back();
  const LateRank late = find_late_rank(communicator, trace, events);
  if (communicator.rank() != 0) return nullptr;

  summary["median_epoch"] = epoch.value;
  summary["epoch_seconds"] = epoch_seconds;
  summary["parts"] = list_parts(trace, seconds, epoch_seconds);
  summary["waited_for"] = nullptr;
  if (late.rank >= 0) {
    const auto each = static_cast<double>(count);
    summary["waited_for"] = {{"rank", late.rank},
                             {"seconds", late.seconds / each},
                             {"exchanges", static_cast<double>(late.exchanges) / each}};
  }
  return summary;
}

}  // namespace halo::train
