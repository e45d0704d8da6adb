#include "run_figures.hpp"

#include <algorithm>

namespace halo::train {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void RunFigures::add(const EpochFigures& figures) {
  train_seconds_.push_back(figures.train_seconds_max);
  epoch_seconds_.push_back(figures.epoch_seconds_max);
  halo_bytes_ = figures.halo_bytes;
  halo_wait_seconds_ += figures.halo_wait_seconds_max;
  halo_hidden_seconds_ += figures.halo_hidden_seconds_max;
  allreduce_seconds_ += figures.allreduce_seconds_max;
  exact_sum_seconds_ += figures.exact_sum_seconds_max;
}

void RunFigures::summarise(nlohmann::json& summary) const {
  const auto epochs = static_cast<double>(std::max<std::size_t>(1, epoch_seconds_.size()));
  summary["train_seconds_median"] = median(train_seconds_);
  summary["epoch_seconds_median"] = median(epoch_seconds_);
  summary["halo_wait_seconds_mean"] = halo_wait_seconds_ / epochs;
  summary["halo_hidden_seconds_mean"] = halo_hidden_seconds_ / epochs;
  summary["allreduce_seconds_mean"] = allreduce_seconds_ / epochs;
  summary["exact_sum_seconds_mean"] = exact_sum_seconds_ / epochs;
  summary["halo_bytes_per_epoch"] = halo_bytes_;
}

}  // namespace halo::train
