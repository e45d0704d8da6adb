#include "best_weights.hpp"

#include <cmath>
#include <limits>

#include "epoch_record.hpp"

namespace halo::train {
namespace {

/// What is to be low: the loss, the metric, or both.
std::vector<double> costs_of(const Scoring& scoring, Selection select) {
  std::vector<double> costs;
  if (select != Selection::kMetric) costs.push_back(scoring.loss[1]);
  if (select != Selection::kLoss) {
    const Metric& metric = scoring.metrics.front();
    costs.push_back(metric.higher_is_better ? -metric.value[1] : metric.value[1]);
  }
  return costs;
}

}  // namespace

BestWeights::BestWeights(const TrainOptions& options)
    : keeps_(options.best_weights || options.patience > 0),
      select_(options.select),
      patience_(options.patience) {}

void BestWeights::judge(std::int64_t epoch, const Scoring& scoring, std::span<const float> parameters) {
  if (!keeps_) return;
  const std::vector<double> costs = costs_of(scoring, select_);
  if (epoch_ == 0) lowest_.assign(costs.size(), std::numeric_limits<double>::quiet_NaN());
  std::size_t reached = 0;
  for (std::size_t k = 0; k < costs.size(); ++k) {
    // Of two figures, one that stands still may not keep the other from counting.
    const bool lower = costs.size() > 1 ? costs[k] <= lowest_[k] : costs[k] < lowest_[k];
    // Any figure beats none (a metric that no row of the split defines).
    if (epoch_ > 0 && !lower && !(std::isnan(lowest_[k]) && !std::isnan(costs[k]))) continue;
    lowest_[k] = costs[k];
    ++reached;
  }
  evaluations_since_ = reached > 0 ? 0 : evaluations_since_ + 1;
  if (reached < costs.size()) return;
  epoch_ = epoch;
  parameters_.assign(parameters.begin(), parameters.end());
}

nlohmann::json BestWeights::state() const {
  nlohmann::json lowest = nlohmann::json::array();
  for (const double cost : lowest_) lowest.push_back(number_or_null(cost));
  return {{"epoch", epoch_}, {"evaluations_since", evaluations_since_}, {"lowest", lowest}};
}

void BestWeights::set_state(const nlohmann::json& state, std::int64_t parameters) {
  epoch_ = state.at("epoch");
  evaluations_since_ = state.at("evaluations_since");
  lowest_.clear();
  for (const nlohmann::json& cost : state.at("lowest"))
    lowest_.push_back(cost.is_null() ? std::numeric_limits<double>::quiet_NaN() : cost.get<double>());
  parameters_.resize(epoch_ > 0 ? static_cast<std::size_t>(parameters) : 0);
}

}  // namespace halo::train
