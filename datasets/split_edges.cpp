#include "halo/datasets/split_edges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "generate_parts.hpp"
#include "halo/base/error.hpp"
#include "halo/graph/csr.hpp"

namespace halo::datasets {
namespace {

using Edge = std::pair<NodeId, NodeId>;

void check(const SplitEdgesOptions& options) {
  require(options.validation >= 0 && options.validation < 1, "--val", options.validation, "0 to below 1");
  require(options.test >= 0 && options.test < 1, "--test", options.test, "0 to below 1");
  const double held_out = options.validation + options.test;
  require(held_out > 0 && held_out < 1, "--val + --test", held_out, "above 0 and below 1");
  require(options.negatives >= 1 && options.negatives <= 1 << 20, "--negatives",
          static_cast<double>(options.negatives), "1 to 2^20");
}

/// The held-out edges that are there already would be lost: they are in no list of edges.
void check_whole(const Dataset& dataset) {
  if (dataset.val_links.size() + dataset.test_links.size() == 0) return;
  throw InputError({.what = "the dataset holds edges out already",
                    .where = "dataset " + dataset.name,
                    .found = fmt::format("{} validation and {} test edges", dataset.val_links.size(),
                                         dataset.test_links.size()),
                    .expected = "a dataset whose edges all stand in edge_index",
                    .next = "split the dataset that this one was made of"});
}

/// Pairs joined by an edge, once each and without loops; u < v where undirected.
std::vector<Edge> distinct_edges(const graph::Csr& in, bool undirected) {
  std::vector<Edge> edges;
  for (NodeId target = 0; target < in.num_nodes(); ++target) {
    NodeId last = -1;
    for (const NodeId source : in.neighbours(target)) {
      if (source != std::exchange(last, source) && source != target && !(undirected && source > target))
        edges.emplace_back(source, target);
    }
  }
  return edges;
}

/// Brings `count` edges drawn at random to the front, undirected ones turned at random.
void draw(std::vector<Edge>& edges, std::int64_t count, bool undirected, std::uint64_t seed) {
  RandomStream stream(random_numbers(seed, Purpose::kHeldOut).row_key(0));
  for (std::size_t i = 0; i < at(count); ++i) {
    std::swap(edges[i], edges[i + stream.below(edges.size() - i)]);
    if (undirected && stream.uniform() < 0.5) std::swap(edges[i].first, edges[i].second);
  }
}

/// Whether the source has an edge to every other node. `row`: its out-neighbours, ascending.
bool reaches_all(std::span<const NodeId> row, NodeId source, NodeId nodes) {
  if (std::ssize(row) < nodes - 1) return false;
  NodeId last = -1, others = 0;
  for (const NodeId node : row) {
    if (node != std::exchange(last, node) && node != source) ++others;
  }
  return others == nodes - 1;
}

/// Non-edges (u, v') for the edges; `out` holds out-neighbours.
HeldOutLinks with_negatives(std::span<const Edge> edges, const graph::Csr& out, std::int64_t negatives,
                            const CounterRng& random) {
  HeldOutLinks links;
  links.negatives_each = negatives;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto [source, target] = edges[i];
    const auto row = out.neighbours(source);
    links.sources.push_back(source);
    links.targets.push_back(target);
    if (reaches_all(row, source, out.num_nodes())) {
      throw InputError({.what = "a node has an edge to every other one, so it has no negative",
                        .where = fmt::format("edge {} -> {}", source, target),
                        .found = fmt::format("{} neighbours", out.num_nodes() - 1),
                        .expected = fmt::format("at most {}", out.num_nodes() - 2),
                        .next = "try another --seed, or take such nodes out"});
    }
    RandomStream stream(random.row_key(static_cast<NodeId>(i)));
    for (std::int64_t k = 0; k < negatives;) {
      const auto other = static_cast<NodeId>(stream.below(static_cast<std::uint64_t>(out.num_nodes())));
      if (other == source || std::ranges::binary_search(row, other)) continue;
      links.negatives.push_back(other);
      ++k;
    }
  }
  return links;
}

/// Takes every column of edge_index away that is one of `edges`, or the reverse of one where undirected.
void remove_edges(Dataset& dataset, std::span<const Edge> edges, bool undirected) {
  std::vector<Edge> removed(edges.begin(), edges.end());
  if (undirected) {
    for (const auto& [source, target] : edges) removed.emplace_back(target, source);
  }
  std::ranges::sort(removed);
  std::size_t kept = 0;
  for (std::size_t e = 0; e < dataset.sources.size(); ++e) {
    if (std::ranges::binary_search(removed, Edge{dataset.sources[e], dataset.targets[e]})) continue;
    dataset.sources[kept] = dataset.sources[e];
    dataset.targets[kept] = dataset.targets[e];
    if (!dataset.edge_weight.empty()) dataset.edge_weight[kept] = dataset.edge_weight[e];
    ++kept;
  }
  dataset.sources.resize(kept);
  dataset.targets.resize(kept);
  if (!dataset.edge_weight.empty()) dataset.edge_weight.resize(kept);
}

}  // namespace

void split_edges(Dataset& dataset, const SplitEdgesOptions& options) {
  check(options);
  check_whole(dataset);
  // Without weights: an edge gives its reverse away whatever the two weigh.
  const graph::Csr in = graph::build_in_edges(dataset.num_nodes, dataset.sources, dataset.targets);
  const graph::Csr out = graph::transpose(in);
  const bool undirected = in.indptr == out.indptr && in.indices == out.indices;
  std::vector<Edge> edges = distinct_edges(in, undirected);
  const auto share = [&](double fraction) {
    return std::llround(fraction * static_cast<double>(edges.size()));
  };
  const std::int64_t validation = share(options.validation), test = share(options.test);
  if (validation + test == 0 || validation + test >= std::ssize(edges)) {
    throw InputError({.what = "too few edges to hold some out",
                      .where = "dataset " + dataset.name,
                      .found = fmt::format("{} edges, {} of them held out", edges.size(), validation + test),
                      .expected = "some edges held out, some left",
                      .next = "choose other --val and --test"});
  }
  draw(edges, validation + test, undirected, options.seed);
  const auto held_out = std::span<const Edge>(edges).first(at(validation + test));
  const CounterRng random = random_numbers(options.seed, Purpose::kNegatives);
  HeldOutLinks all = with_negatives(held_out, out, options.negatives, random);
  remove_edges(dataset, held_out, undirected);
  dataset.task = kLinkPrediction;
  dataset.num_classes = 0;
  dataset.labels.clear();
  dataset.multi_labels.clear();
  dataset.values.clear();
  dataset.split.assign(at(dataset.num_nodes), Split::kNone);
  const auto cut = [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t k = options.negatives;
    return HeldOutLinks{.sources = {all.sources.begin() + begin, all.sources.begin() + end},
                        .targets = {all.targets.begin() + begin, all.targets.begin() + end},
                        .negatives = {all.negatives.begin() + begin * k, all.negatives.begin() + end * k},
                        .negatives_each = k};
  };
  dataset.val_links = cut(0, validation);
  dataset.test_links = cut(validation, validation + test);
}

}  // namespace halo::datasets
