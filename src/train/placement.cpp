#include "halo/train/placement.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "halo/base/cpu.hpp"

namespace halo::train {

std::string cpu_ranges(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t first = 0; first < cpus.size();) {
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ",";
    text += first == last ? fmt::format("{}", cpus[first]) : fmt::format("{}-{}", cpus[first], cpus[last]);
    first = last + 1;
  }
  return text;
}

std::vector<RankPlacement> place_ranks(const mpi::Communicator& communicator, int threads) {
  const nlohmann::json mine = {{"host", host_name()}, {"pid", getpid()}, {"cpus", usable_cpus()}};
  const auto gathered = communicator.gather(mine.dump(), 0);
  const std::string all = communicator.broadcast(nlohmann::json(gathered).dump(), 0);
  std::vector<RankPlacement> ranks;
  for (const auto& text : nlohmann::json::parse(all)) {
    const auto entry = nlohmann::json::parse(text.get<std::string>());
    ranks.push_back({.host = entry["host"], .pid = entry["pid"], .cpus = entry["cpus"], .threads = threads});
  }
  if (threads > 0) return ranks;
  for (RankPlacement& rank : ranks) {
    const auto sharing = std::count_if(ranks.begin(), ranks.end(), [&](const RankPlacement& other) {
      return other.host == rank.host && other.cpus == rank.cpus;
    });
    rank.threads = std::max(1, static_cast<int>(static_cast<std::ptrdiff_t>(rank.cpus.size()) / sharing));
  }
  return ranks;
}

}  // namespace halo::train
