#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "halo/mpi/communicator.hpp"
#include "halo/train/dist_exchange.hpp"

namespace halo::train {

/// What each kind of gather of the training epochs moved, waited and hid on this rank.
class GatherTotals {
 public:
  /// Of one epoch.
  void add(const std::map<GatherKey, dist::GatherStatistics>& gathers);
  /// Collective. A list for summary.json: {"direction", "level" (null: all rows), "columns", "count",
  /// "bytes", "waited_seconds_max", "waited_seconds_mean", "hidden_seconds_max", "hidden_seconds_mean"}, per
  /// epoch; bytes of all ranks, seconds over ranks.
  nlohmann::json summarise(const mpi::Communicator& communicator) const;

 private:
  std::map<GatherKey, dist::GatherStatistics> totals_;
  std::int64_t epochs_ = 0;
};

}  // namespace halo::train
