#pragma once

#include <cstdint>
#include <optional>

#include "halo/base/timer.hpp"
#include "halo/dist/halo_gather.hpp"
#include "halo/dist/load_partition.hpp"
#include "halo/mpi/communicator.hpp"
#include "halo/nn/exchange.hpp"

namespace halo::train {

/// Communication figures of this rank since the last reset.
struct ExchangeStatistics {
  double halo_waited_seconds = 0.0;
  double allreduce_seconds = 0.0;
  std::int64_t halo_bytes_sent = 0;
};

/// A program's exchange between the ranks of a communicator: one halo gather per direction and an integer
/// allreduce.
class DistExchange final : public nn::Exchange<float> {
 public:
  /// Collective. `max_cols`: widest matrix that will be gathered.
  DistExchange(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
               dist::Transport transport, std::int64_t max_cols, int threads);

  void start(nn::Direction direction, MatrixView<float> x) override;
  void poke() override;
  void finish() override;
  void sum(std::span<std::int64_t> values) override;

  ExchangeStatistics statistics() const;
  void reset_statistics();

 private:
  const mpi::Communicator& communicator_;
  dist::HaloGather<float> in_;
  std::optional<dist::HaloGather<float>>
      out_;  ///< where the graph is directed; a symmetric one needs one gather
  dist::HaloGather<float>* active_ = nullptr;
  int threads_;
  double allreduce_seconds_ = 0.0;
};

}  // namespace halo::train
