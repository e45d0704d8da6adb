#include "halo/partition/partition_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "halo/base/error.hpp"

namespace halo::partition {
namespace {

template <typename Enum, std::size_t kCount>
using Names = std::array<std::pair<const char*, Enum>, kCount>;

constexpr Names<Method, 3> kMethods{
    {{"metis", Method::kMetis}, {"random", Method::kRandom}, {"block", Method::kBlock}}};
constexpr Names<Scheme, 2> kSchemes{{{"kway", Scheme::kKway}, {"recursive", Scheme::kRecursive}}};
constexpr Names<Objective, 2> kObjectives{{{"cut", Objective::kCut}, {"volume", Objective::kVolume}}};
constexpr Names<Balance, 3> kBalances{
    {{"nodes", Balance::kNodes}, {"edges", Balance::kEdges}, {"train", Balance::kTrain}}};

template <typename Enum, std::size_t kCount>
Enum parse(const std::string& text, const Names<Enum, kCount>& names, const char* option) {
  std::array<const char*, kCount> known{};
  for (std::size_t i = 0; i < kCount; ++i) {
    if (text == names[i].first) return names[i].second;
    known[i] = names[i].first;
  }
  throw InputError({.what = fmt::format("unknown value of {}", option),
                    .where = option,
                    .found = text,
                    .expected = fmt::format("one of {}", fmt::join(known, ", ")),
                    .next = ""});
}

template <typename Enum, std::size_t kCount>
const char* name_of(Enum value, const Names<Enum, kCount>& names) {
  return std::ranges::find(names, value, [](const auto& entry) { return entry.second; })->first;
}

[[noreturn]] void refuse(const char* option, const std::string& what, const std::string& found,
                         const std::string& expected) {
  throw InputError({.what = what, .where = option, .found = found, .expected = expected, .next = ""});
}

void check_balance(const PartitionOptions& options) {
  if (options.balance.empty())
    refuse("--balance", "nothing to balance", "", "nodes, edges, train or several of them");
  for (std::size_t i = 0; i < options.balance.size(); ++i) {
    const auto rest = options.balance.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (std::find(rest, options.balance.end(), options.balance[i]) != options.balance.end()) {
      refuse("--balance", "named twice", to_string(options.balance[i]), "each figure once");
    }
  }
  if (!(options.imbalance > 1.0 && options.imbalance <= 100.0)) {
    refuse("--imbalance", "imbalance out of range", fmt::format("{}", options.imbalance),
           "largest part / mean part, above 1 and at most 100");
  }
}

}  // namespace

void check_options(const PartitionOptions& options, NodeId nodes) {
  if (options.parts < 1 || options.parts > nodes) {
    refuse("--parts", options.parts < 1 ? "too few parts" : "more parts than nodes",
           fmt::format("{}", options.parts),
           fmt::format("1 to {}, as the graph has {} nodes and no part may be empty", nodes, nodes));
  }
  check_balance(options);
  const PartitionOptions defaults;
  if (options.method != Method::kMetis &&
      (options.scheme != defaults.scheme || options.objective != defaults.objective ||
       options.balance != defaults.balance)) {
    refuse("--method", "--scheme, --objective and --balance belong to METIS", to_string(options.method),
           "metis");
  }
  if (options.objective == Objective::kVolume && options.scheme == Scheme::kRecursive) {
    refuse("--objective", "METIS makes the volume small with the k-way scheme only",
           "volume with --scheme recursive", "--scheme kway, or --objective cut");
  }
  if (options.tile_rows < 1)
    refuse("--tile-rows", "a tile needs rows", fmt::format("{}", options.tile_rows), ">= 1");
  if (options.tiles_per_group < 1) {
    refuse("--tiles-per-group", "a group needs tiles", fmt::format("{}", options.tiles_per_group), ">= 1");
  }
  if (options.threads < 1) refuse("--threads", "too few threads", fmt::format("{}", options.threads), ">= 1");
}

Method parse_method(const std::string& name) {
  return parse(name, kMethods, "--method");
}
Scheme parse_scheme(const std::string& name) {
  return parse(name, kSchemes, "--scheme");
}
Objective parse_objective(const std::string& name) {
  return parse(name, kObjectives, "--objective");
}
Balance parse_balance(const std::string& name) {
  return parse(name, kBalances, "--balance");
}
const char* to_string(Method method) {
  return name_of(method, kMethods);
}
const char* to_string(Scheme scheme) {
  return name_of(scheme, kSchemes);
}
const char* to_string(Objective objective) {
  return name_of(objective, kObjectives);
}
const char* to_string(Balance balance) {
  return name_of(balance, kBalances);
}

}  // namespace halo::partition
