#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>

#include "halo/base/trace.hpp"
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
  double halo_hidden_seconds = 0.0;  ///< halo rows were in flight and this rank computed
  double allreduce_seconds = 0.0;
  std::int64_t halo_bytes_sent = 0;
};

/// What tells the gathers of a program apart: direction, highest level of rows, columns.
using GatherKey = std::tuple<nn::Direction, std::int8_t, std::int64_t>;
/// "halo in, 64 columns, rows to level 1"
std::string to_text(const GatherKey& key);

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

  /// The given one, or what was chosen by measurement.
  dist::Transport transport() const { return transport_; }
  ExchangeStatistics statistics() const;
  /// Of each kind of gather since the last reset; on every rank the same keys.
  const std::map<GatherKey, dist::GatherStatistics>& gathers() const { return figures_; }
  void reset_statistics();

  /// Gathers and sums are recorded from now on; null: not any more.
  void set_trace(TraceRecorder* recorder) { recorder_ = recorder; }

 private:
  void record(const dist::GatherRecord& gather);

  const mpi::Communicator& communicator_;
  dist::Transport transport_;
  GatherChoice choice_;
  std::map<GatherChoice::Key, dist::HaloGather<float>> gathers_;
  dist::HaloGather<float>* active_ = nullptr;
  GatherKey active_key_;
  std::map<GatherKey, dist::GatherStatistics> figures_;
  TraceRecorder* recorder_ = nullptr;
  std::map<GatherKey, std::int32_t> labels_;  ///< in the recorder
  int threads_;
  double allreduce_seconds_ = 0.0;
};

}  // namespace halo::train
