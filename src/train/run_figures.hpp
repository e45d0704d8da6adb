#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "epoch_record.hpp"

namespace halo::train {

/// The measured figures of a run's epochs, for its summary.
class RunFigures {
 public:
  void add(const EpochFigures& figures);
  /// Into the summary of `epochs` epochs.
  void summarise(nlohmann::json& summary) const;

 private:
  std::vector<double> train_seconds_;
  std::vector<double> epoch_seconds_;
  std::int64_t halo_bytes_ = 0;
  double halo_wait_seconds_ = 0.0;
  double halo_hidden_seconds_ = 0.0;
  double allreduce_seconds_ = 0.0;
  double exact_sum_seconds_ = 0.0;
};

}  // namespace halo::train
