#include "best_weights.hpp"

#include <cmath>
#include <limits>

#include "epoch_record.hpp"

namespace halo::train {
namespace {

double cost_of(const Scoring& scoring, Selection select) {
  if (select == Selection::kLoss) return scoring.loss[1];
  const Metric& metric = scoring.metrics.front();
  return metric.higher_is_better ? -metric.value[1] : metric.value[1];
}

}  // namespace

BestWeights::BestWeights(const TrainOptions& options)
    : keeps_(options.best_weights || options.patience > 0),
      select_(options.select),
      patience_(options.patience) {}

void BestWeights::judge(std::int64_t epoch, const Scoring& scoring, std::span<const float> parameters) {
  if (!keeps_) return;
  const double cost = cost_of(scoring, select_);
  // Any figure beats none (a metric that no row of the split defines).
  const bool better = epoch_ == 0 || cost < cost_ || (std::isnan(cost_) && !std::isnan(cost));
  if (!better) {
    ++evaluations_since_;
    return;
  }
  epoch_ = epoch;
  evaluations_since_ = 0;
  cost_ = cost;
  parameters_.assign(parameters.begin(), parameters.end());
}

nlohmann::json BestWeights::state() const {
  return {{"epoch", epoch_}, {"evaluations_since", evaluations_since_}, {"cost", number_or_null(cost_)}};
}

void BestWeights::set_state(const nlohmann::json& state, std::int64_t parameters) {
  epoch_ = state.at("epoch");
  evaluations_since_ = state.at("evaluations_since");
  const nlohmann::json& cost = state.at("cost");
  cost_ = cost.is_null() ? std::numeric_limits<double>::quiet_NaN() : cost.get<double>();
  parameters_.resize(epoch_ > 0 ? static_cast<std::size_t>(parameters) : 0);
}

}  // namespace halo::train
