// Nodes stand in a random order; communities, and so classes, are runs of equal length in that order. Every
// node draws a Poisson number of partners: half the mean degree where an edge counts for both its ends.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "generate_parts.hpp"
#include "halo/base/error.hpp"
#include "halo/base/parallel.hpp"

namespace halo::datasets {
namespace {

constexpr std::int64_t kPositionsPerBlock = 1 << 12;

/// Poisson by multiplying uniforms (Knuth), in steps whose exponential does not underflow.
std::int64_t poisson(RandomStream& stream, double mean) {
  constexpr double kStep = 256.0;
  std::int64_t count = 0;
  for (; mean > 0; mean -= kStep) {
    const double limit = std::exp(-std::min(mean, kStep));
    for (double product = stream.uniform(); product > limit; product *= stream.uniform()) ++count;
  }
  return count;
}

/// Cuts [0, length) into `count` runs whose lengths differ by at most one.
struct EqualRuns {
  std::int64_t length;
  std::int64_t count;

  std::int64_t run_of(std::int64_t position) const { return ((position + 1) * count - 1) / length; }
  RowRange range(std::int64_t run) const { return {run * length / count, (run + 1) * length / count}; }
};

void check(const SbmOptions& options, std::int64_t communities) {
  check_node_count(options.nodes, "--nodes");
  require(options.classes >= 1 && options.classes <= options.nodes, "--classes", options.classes,
          "1 to --nodes");
  require(
      communities >= options.classes && communities <= options.nodes && communities % options.classes == 0,
      "--communities", static_cast<double>(communities), "a multiple of --classes, at most --nodes");
  require(options.degree >= 0 && options.degree < static_cast<double>(options.nodes), "--degree",
          options.degree, "0 to below --nodes");
  require(options.homophily >= 0 && options.homophily <= 1, "--homophily", options.homophily, "0 to 1");
  if (options.task != kNodeClassification && options.task != kMultiLabel && options.task != kNodeRegression) {
    throw InputError(
        {.what = "unknown task",
         .where = "--task",
         .found = options.task,
         .expected = fmt::format("{}, {} or {}", kNodeClassification, kMultiLabel, kNodeRegression),
         .next = "see gnn_dataset --help"});
  }
  require(options.classes > 1 || options.homophily == 1, "--homophily", options.homophily,
          "1 where there is a single class");
}

class EdgeDrawer {
 public:
  EdgeDrawer(const SbmOptions& options, const EqualRuns& communities, const std::vector<SmallId>& order)
      : options_(options),
        communities_(communities),
        communities_per_class_(communities.count / options.classes),
        order_(order),
        random_(random_numbers(options.planted.seed, Purpose::kEdges)),
        mean_(options.directed ? options.degree : options.degree / 2) {}

  /// The edges that the node at this position draws; it is their target.
  void draw(std::int64_t position, std::vector<SmallEdge>& edges) const {
    RandomStream stream(random_.row_key(position));
    const std::int64_t community = communities_.run_of(position);
    const RowRange own = communities_.range(community);
    const RowRange own_class = class_range(community / communities_per_class_);
    const SmallId node = order_[static_cast<std::size_t>(position)];
    for (std::int64_t left = poisson(stream, mean_); left > 0; --left) {
      const bool stay = stream.uniform() < options_.homophily;
      const auto choices =
          static_cast<std::uint64_t>(stay ? own.size() : communities_.length - own_class.size());
      auto partner = static_cast<std::int64_t>(stream.below(choices));
      if (stay) {
        partner += own.begin;
      } else if (partner >= own_class.begin) {
        partner += own_class.size();
      }
      edges.push_back({order_[static_cast<std::size_t>(partner)], node});
    }
  }

 private:
  RowRange class_range(std::int64_t label) const {
    return {communities_.range(label * communities_per_class_).begin,
            communities_.range((label + 1) * communities_per_class_ - 1).end};
  }

  const SbmOptions& options_;
  EqualRuns communities_;
  std::int64_t communities_per_class_;
  const std::vector<SmallId>& order_;
  CounterRng random_;
  double mean_;
};

/// Turns the planted classes into what the task predicts.
void plant_task(const SbmOptions& options, Dataset& dataset) {
  if (options.task == kNodeClassification) return;
  constexpr double kFurtherLabels = 0.02, kDeviation = 0.1;
  const CounterRng random = random_numbers(options.planted.seed, Purpose::kLabels);
  const std::int32_t classes = options.classes;
  dataset.task = options.task;
  for (NodeId node = 0; node < dataset.num_nodes; ++node) {
    const std::int32_t own = dataset.labels[at(node)];
    RandomStream stream(random.row_key(node));
    if (options.task == kNodeRegression) {
      const double angle = 2.0 * std::numbers::pi * own / classes;
      dataset.values.push_back(static_cast<float>(std::sin(angle) + kDeviation * stream.normal()));
      dataset.values.push_back(static_cast<float>(std::cos(angle) + kDeviation * stream.normal()));
      continue;
    }
    for (std::int32_t label = 0; label < classes; ++label) {
      const bool further = stream.uniform() < kFurtherLabels;
      dataset.multi_labels.push_back(label == own || label == (own + 1) % classes || further ? 1 : 0);
    }
  }
  if (options.task == kNodeRegression) dataset.num_classes = 2;
  dataset.labels.clear();
}

}  // namespace

Dataset generate_sbm(const SbmOptions& options) {
  const std::int64_t count = options.communities == 0 ? options.classes : options.communities;
  check(options, count);
  const EqualRuns communities{options.nodes, count};
  const std::vector<SmallId> order = random_order(options.nodes, options.planted.seed, Purpose::kOrder);
  Dataset dataset;
  dataset.name = "sbm";
  dataset.num_nodes = options.nodes;
  dataset.num_classes = options.classes;
  dataset.labels.resize(static_cast<std::size_t>(options.nodes));
  for (std::int64_t position = 0; position < options.nodes; ++position) {
    dataset.labels[static_cast<std::size_t>(order[static_cast<std::size_t>(position)])] =
        static_cast<std::int32_t>(communities.run_of(position) / (count / options.classes));
  }
  const EdgeDrawer drawer(options, communities, order);
  EdgeBlocks blocks(static_cast<std::size_t>((options.nodes + kPositionsPerBlock - 1) / kPositionsPerBlock));
  parallel_for(static_cast<std::int64_t>(blocks.size()), options.planted.threads,
               [&](std::int64_t block, int) {
                 auto& edges = blocks[static_cast<std::size_t>(block)];
                 const std::int64_t end = std::min((block + 1) * kPositionsPerBlock, options.nodes);
                 for (std::int64_t position = block * kPositionsPerBlock; position < end; ++position)
                   drawer.draw(position, edges);
                 edges.shrink_to_fit();
               });
  set_edges(dataset, std::move(blocks), options.directed ? Direction::kOneWay : Direction::kBothWays,
            options.planted.threads);
  plant(dataset, options.planted);
  plant_task(options, dataset);
  return dataset;
}

}  // namespace halo::datasets
