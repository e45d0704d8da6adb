#include "halo/dist/transport_choice.hpp"

#include <algorithm>
#include <span>

#include "halo/base/buffer.hpp"
#include "halo/base/timer.hpp"
#include "halo/mpi/communicator.hpp"
#include "halo/mpi/row_exchange.hpp"

namespace halo::dist {
namespace {

constexpr int kRounds = 5;
constexpr std::int64_t kCols = 16;
/// How long a rank computes between two pokes: about a tile.
constexpr double kBetweenPokes = 1e-4;

std::vector<Transport> available() {
  std::vector<Transport> transports = {Transport::kNonblocking, Transport::kPointToPoint,
                                       Transport::kBlocking};
  if (mpi::RowExchange::has_persistent()) transports.push_back(Transport::kPersistent);
  return transports;
}

double interior_share(const graph::LocalGraph& graph) {
  std::int64_t interior = 0;
  for (const graph::TileGroup& group : graph.groups) {
    if (!group.interior_in) continue;
    for (std::int32_t tile = group.first_tile; tile < group.last_tile; ++tile) {
      interior += graph.tiles[static_cast<std::size_t>(tile)].rows.size();
    }
  }
  return graph.owned == 0 ? 0.0 : static_cast<double>(interior) / static_cast<double>(graph.owned);
}

/// Busy for so long, poking as the tiles of an epoch do.
void compute(double seconds, HaloGather<float>& gather) {
  const Timer timer;
  double next_poke = kBetweenPokes;
  while (timer.seconds() < seconds) {
    if (timer.seconds() < next_poke) continue;
    gather.poke();
    next_poke += kBetweenPokes;
  }
}

/// Collective. Of the slowest rank, the best of the rounds.
double measure(const mpi::Communicator& communicator, HaloGather<float>& gather, MatrixView<float> x,
               double work) {
  double best = 0.0;
  for (int round = 0; round < kRounds; ++round) {
    communicator.barrier();
    const Timer timer;
    gather.start(x, 1);
    compute(work, gather);
    gather.finish();
    double seconds[] = {timer.seconds()};
    communicator.max(std::span<double>(seconds));
    best = round == 0 ? seconds[0] : std::min(best, seconds[0]);
  }
  return best;
}

}  // namespace

std::vector<TransportTime> measure_transports(const mpi::Communicator& communicator, const HaloPlan& plan,
                                              const graph::LocalGraph& graph) {
  Buffer<float> rows((graph.owned + plan.halo) * kCols);
  rows.fill(0.0F);
  const MatrixView<float> x(rows.data(), graph.owned + plan.halo, kCols);
  HaloGather<float> usual(communicator, plan, Transport::kNonblocking, kCols);
  const double work = measure(communicator, usual, x, 0.0) * interior_share(graph);
  std::vector<TransportTime> times;
  for (const Transport transport : available()) {
    HaloGather<float> gather(communicator, plan, transport, kCols);
    times.push_back({transport, measure(communicator, gather, x, work)});
  }
  std::stable_sort(times.begin(), times.end(),
                   [](const TransportTime& a, const TransportTime& b) { return a.seconds < b.seconds; });
  return times;
}

}  // namespace halo::dist
