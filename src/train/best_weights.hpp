#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "halo/train/metrics.hpp"
#include "halo/train/options.hpp"

namespace halo::train {

/// The weights of the best evaluation so far, and when to stop waiting for a better one. Scores are exact
/// sums, so every rank decides alike.
class BestWeights {
 public:
  explicit BestWeights(const TrainOptions& options);

  void judge(std::int64_t epoch, const Scoring& scoring, std::span<const float> parameters);

  bool keeps() const { return keeps_; }
  bool out_of_patience() const { return patience_ > 0 && evaluations_since_ >= patience_; }
  std::int64_t epoch() const { return epoch_; }  ///< 0: none yet
  /// Of epoch(); empty if there is none.
  std::span<float> parameters() { return parameters_; }

  /// What a checkpoint keeps beside parameters().
  nlohmann::json state() const;
  /// The reverse; parameters() then has room for `parameters` numbers if there is a best epoch.
  void set_state(const nlohmann::json& state, std::int64_t parameters);

 private:
  bool keeps_;
  Selection select_;
  std::int64_t patience_;
  std::int64_t epoch_ = 0;
  std::int64_t evaluations_since_ = 0;
  std::vector<double> lowest_;  ///< so far: the cost that decides, or both
  std::vector<float> parameters_;
};

}  // namespace halo::train
