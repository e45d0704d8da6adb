#include "gather_totals.hpp"

#include <array>

#include "halo/train/gather_choice.hpp"

namespace halo::train {

void GatherTotals::add(const std::map<GatherKey, dist::GatherStatistics>& gathers) {
  ++epochs_;
  for (const auto& [key, epoch] : gathers) {
    if (epoch.gathers == 0) continue;  // of an evaluation
    totals_[key].add(epoch);
  }
}

nlohmann::json GatherTotals::summarise(const mpi::Communicator& communicator) const {
  nlohmann::json list = nlohmann::json::array();
  const auto epochs = static_cast<double>(epochs_);
  const double ranks = communicator.size();
  for (const auto& [key, total] : totals_) {
    std::array<double, 2> largest = {total.waited_seconds / epochs, total.hidden_seconds / epochs};
    std::array<double, 2> mean = largest;
    communicator.max(std::span<double>(largest));
    communicator.sum(std::span<double>(mean));
    std::int64_t bytes[] = {total.bytes_sent};
    communicator.sum(std::span<std::int64_t>(bytes));
    const auto& [direction, level, cols] = key;
    list.push_back({{"direction", direction == nn::Direction::kIn ? "in" : "out"},
                    {"level", fetches_all(level) ? nlohmann::json(nullptr) : nlohmann::json(level)},
                    {"columns", cols},
                    {"count", total.gathers / epochs_},
                    {"bytes", bytes[0] / epochs_},
                    {"waited_seconds_max", largest[0]},
                    {"waited_seconds_mean", mean[0] / ranks},
                    {"hidden_seconds_max", largest[1]},
                    {"hidden_seconds_mean", mean[1] / ranks}});
  }
  return list;
}

}  // namespace halo::train
