#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "halo/base/timer.hpp"
#include "halo/dist/halo_gather.hpp"
#include "halo/dist/load_partition.hpp"
#include "halo/mpi/communicator.hpp"
#include "halo/nn/exchange.hpp"
#include "halo/nn/schedule.hpp"
#include "halo/train/gather_choice.hpp"

namespace halo::train {

/// Communication figures of this rank since the last reset.
struct ExchangeStatistics {
  double halo_waited_seconds = 0.0;
  double allreduce_seconds = 0.0;
  std::int64_t halo_bytes_sent = 0;
};

/// A program's exchange between the ranks of a communicator: a halo gather for each direction and level of
/// rows, and an integer allreduce.
class DistExchange final : public nn::Exchange<float> {
 public:
  /// Collective. `graph`: the one that is trained on, with its levels if they are known; `shapes`: every
  /// gather that there will be.
  DistExchange(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
               const graph::LocalGraph& graph, dist::Transport transport,
               std::span<const nn::GatherShape> shapes, int threads);

  void start(nn::Direction direction, std::int8_t level, MatrixView<float> x) override;
  void poke() override;
  void finish() override;
  void sum(std::span<std::int64_t> values) override;

  ExchangeStatistics statistics() const;
  void reset_statistics();

 private:
  const mpi::Communicator& communicator_;
  GatherChoice choice_;
  std::map<GatherChoice::Key, dist::HaloGather<float>> gathers_;
  dist::HaloGather<float>* active_ = nullptr;
  int threads_;
  double allreduce_seconds_ = 0.0;
};

}  // namespace halo::train
