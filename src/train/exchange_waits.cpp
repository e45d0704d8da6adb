#include "exchange_waits.hpp"

#include <algorithm>
#include <vector>

namespace halo::train {
namespace {

/// One gather or allreduce, in RunTrace::common_time().
struct Visit {
  std::int64_t came = 0;
  std::int64_t waited_from = 0;
  std::int64_t waited_until = 0;
};

std::vector<Visit> visits_of(const RunTrace& trace, std::span<const TraceEvent> events) {
  std::vector<Visit> visits;
  TraceEvent wait;
  for (const TraceEvent& event : events) {
    if (event.kind == TraceKind::kWait) wait = event;  // its gather follows
    const bool gather = event.kind == TraceKind::kGather;
    if (!gather && event.kind != TraceKind::kAllreduce) continue;
    const TraceEvent& waited = gather ? wait : event;
    visits.push_back({.came = trace.common_time(event.begin),
                      .waited_from = trace.common_time(waited.begin),
                      .waited_until = trace.common_time(waited.end)});
  }
  return visits;
}

}  // namespace

LateRank find_late_rank(const mpi::Communicator& communicator, const RunTrace& trace,
                        std::span<const TraceEvent> events) {
  std::vector<Visit> visits = visits_of(trace, events);
  std::int64_t fewest[] = {-std::ssize(visits)};  // a recorder may be full
  communicator.max(std::span<std::int64_t>(fewest));
  visits.resize(static_cast<std::size_t>(-fewest[0]));

  std::vector<std::int64_t> latest(visits.size());
  std::transform(visits.begin(), visits.end(), latest.begin(), [](const Visit& visit) { return visit.came; });
  communicator.max(std::span<std::int64_t>(latest));
  std::vector<std::int64_t> last_rank;
  std::vector<std::int64_t> lost;  // nanoseconds
  for (std::size_t k = 0; k < visits.size(); ++k) {
    last_rank.push_back(visits[k].came == latest[k] ? communicator.rank() : -1);
    lost.push_back(
        std::max<std::int64_t>(0, std::min(latest[k], visits[k].waited_until) - visits[k].waited_from));
  }
  communicator.max(std::span<std::int64_t>(last_rank));
  communicator.sum(std::span<std::int64_t>(lost));

  std::vector<LateRank> ranks(static_cast<std::size_t>(communicator.size()));
  for (std::size_t k = 0; k < visits.size(); ++k) {
    LateRank& late = ranks[static_cast<std::size_t>(last_rank[k])];
    ++late.exchanges;
    late.seconds += static_cast<double>(lost[k]) / 1e9 / std::max(1, communicator.size() - 1);
  }
  const auto worst = std::max_element(
      ranks.begin(), ranks.end(), [](const LateRank& a, const LateRank& b) { return a.seconds < b.seconds; });
  if (worst->seconds > 0.0) worst->rank = static_cast<Rank>(worst - ranks.begin());
  return *worst;
}

}  // namespace halo::train
