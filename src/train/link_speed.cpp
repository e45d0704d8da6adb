#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <vector>

#include "halo/base/timer.hpp"
#include "halo/mpi/row_exchange.hpp"
#include "halo/train/epoch_estimate.hpp"

namespace halo::train {
namespace {

/// Collective. Seconds until every rank has sent a row of `cols` floats and received one; the fastest of
/// some tries.
double time_exchange(const mpi::Communicator& communicator, mpi::RowExchange& exchange, std::int64_t cols,
                     int tries) {
  const std::vector<float> sent(at(cols), 1.0F);
  std::vector<float> received(at(cols));
  double best = std::numeric_limits<double>::infinity();
  for (int k = 0; k < tries; ++k) {
    communicator.barrier();
    const Timer timer;
    exchange.start(mpi::RowExchange::Call::kPointToPoint, sent.data(), received.data(), cols);
    exchange.wait();
    double seconds[] = {timer.seconds()};
    communicator.max(std::span<double>(seconds));
    best = std::min(best, seconds[0]);
  }
  return best;
}

}  // namespace

Link measure_link(const mpi::Communicator& communicator) {
  const int ranks = communicator.size();
  if (ranks == 1) return {};
  const int apart = ranks / 2;
  const std::array<Rank, 1> to = {(communicator.rank() + apart) % ranks};
  const std::array<Rank, 1> from = {(communicator.rank() + ranks - apart) % ranks};
  const std::array<std::int64_t, 2> one_row = {0, 1};
  mpi::RowExchange exchange(
      communicator,
      {.send_to = to, .send_offsets = one_row, .receive_from = from, .receive_offsets = one_row});
  constexpr std::int64_t kFloats = std::int64_t{1} << 20;
  const double latency = time_exchange(communicator, exchange, 1, 20);
  const double seconds = time_exchange(communicator, exchange, kFloats, 5);
  return {.bandwidth = static_cast<double>(kFloats * sizeof(float)) / seconds, .latency = latency};
}

}  // namespace halo::train
