#include "halo/partition/partitioner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>

#include "halo/base/counter_rng.hpp"
#include "halo/base/error.hpp"
#include "halo/base/log.hpp"
#include "halo/partition/metis_graph.hpp"

namespace halo::partition {
namespace {

/// Position in a numbering -> part, K runs of equal length (to one).
PartId block_of(NodeId position, NodeId nodes, PartId parts) {
  const NodeId longer = nodes % parts;  // the first `longer` runs have one node more
  const NodeId length = nodes / parts;
  const NodeId head = longer * (length + 1);
  return static_cast<PartId>(position < head ? position / (length + 1) : longer + (position - head) / length);
}

std::vector<PartId> assign_blocks(NodeId nodes, PartId parts) {
  std::vector<PartId> part(at(nodes));
  for (NodeId i = 0; i < nodes; ++i) part[at(i)] = block_of(i, nodes, parts);
  return part;
}

/// Blocks, shuffled (Fisher and Yates).
std::vector<PartId> assign_at_random(NodeId nodes, PartId parts, std::uint64_t seed) {
  std::vector<PartId> part = assign_blocks(nodes, parts);
  RandomStream random(CounterRng(seed, 0, 0).row_key(0));
  for (NodeId i = nodes - 1; i > 0; --i) {
    std::swap(part[at(i)],
              part[at(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(i) + 1)))]);
  }
  return part;
}

void check_metis_size(const graph::Csr& graph) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  if (graph.num_edges() > kLargest || graph.num_nodes() >= kLargest) {
    throw InputError({.what = "the graph is too large for this METIS (built with 32-bit ids)",
                      .where = "symmetric loop-free copy of the graph",
                      .found = fmt::format("{} nodes, {} entries", graph.num_nodes(), graph.num_edges()),
                      .expected = fmt::format("fewer than {} of each", kLargest),
                      .next = "use --method block or random, or link a METIS with 64-bit ids"});
  }
}

/// The figures to balance that are not zero everywhere, as METIS' interleaved node weights.
void set_node_weights(MetisGraph& graph, std::span<const std::int64_t> in_degree,
                      std::span<const std::uint8_t> is_train, const std::vector<Balance>& balance) {
  const auto weight = [&](Balance figure, std::size_t node) -> std::int64_t {
    if (figure == Balance::kNodes) return 1;
    return figure == Balance::kEdges ? in_degree[node] : (is_train[node] != 0 ? 1 : 0);
  };
  const auto nodes = at(graph.num_nodes());
  std::vector<Balance> used;
  for (const Balance figure : balance) {
    bool any = false;
    for (std::size_t i = 0; i < nodes && !any; ++i) any = weight(figure, i) != 0;
    if (any) used.push_back(figure);
  }
  if (used.empty() || used == std::vector<Balance>{Balance::kNodes}) return;
  graph.constraints = static_cast<std::int32_t>(used.size());
  graph.node_weights.reserve(nodes * used.size());
  for (std::size_t i = 0; i < nodes; ++i) {
    for (const Balance figure : used) {
      const std::int64_t value =
          std::min<std::int64_t>(weight(figure, i), std::numeric_limits<std::int32_t>::max());
      graph.node_weights.push_back(static_cast<std::int32_t>(value));
    }
  }
}

MetisGraph make_metis_graph(const graph::Csr& graph) {
  check_metis_size(graph);
  const auto narrow = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  MetisGraph result;
  result.offsets.resize(graph.indptr.size());
  result.neighbours.resize(graph.indices.size());
  std::ranges::transform(graph.indptr, result.offsets.begin(), narrow);
  std::ranges::transform(graph.indices, result.neighbours.begin(), narrow);
  return result;
}

std::int64_t empty_parts(std::span<const PartId> part, PartId parts) {
  return std::ranges::count(part_sizes(part, parts), NodeId{0});
}

Assignment assign_by_metis(MetisGraph graph, const PartitionOptions& options) {
  MetisSettings settings{.parts = options.parts,
                         .scheme = options.scheme,
                         .objective = options.objective,
                         .imbalance = options.imbalance,
                         .seed = options.seed};
  Assignment result{.part = run_metis(graph, settings), .scheme = options.scheme};
  const std::int64_t empty = empty_parts(result.part, options.parts);
  if (empty > 0 && options.scheme == Scheme::kKway) {
    settings.scheme = Scheme::kRecursive;
    settings.objective = Objective::kCut;
    std::vector<PartId> other = run_metis(graph, settings);
    if (empty_parts(other, options.parts) < empty) {
      spdlog::warn(
          "METIS k-way left {} of {} parts empty: using its recursive bisection (for the cut) instead", empty,
          options.parts);
      result = {.part = std::move(other), .scheme = Scheme::kRecursive};
    }
  }
  result.repaired = repair_empty_parts(result.part, options.parts);
  if (result.repaired > 0)
    spdlog::warn("METIS left {} parts empty: each got half of a large part", result.repaired);
  return result;
}

}  // namespace

std::vector<NodeId> part_sizes(std::span<const PartId> part, PartId parts) {
  std::vector<NodeId> sizes(at(parts), 0);
  for (const PartId p : part) ++sizes[at(p)];
  return sizes;
}

PartId repair_empty_parts(std::span<PartId> part, PartId parts) {
  if (static_cast<std::int64_t>(part.size()) < parts)
    throw Error("fewer nodes than parts: no repair possible");
  std::vector<NodeId> sizes = part_sizes(part, parts);
  if (std::ranges::find(sizes, NodeId{0}) == sizes.end()) return 0;
  std::vector<std::vector<NodeId>> members(at(parts));
  for (std::size_t i = 0; i < part.size(); ++i) members[at(part[i])].push_back(static_cast<NodeId>(i));
  const auto smaller = [&members](PartId a, PartId b) {
    const std::size_t size_a = members[at(a)].size();
    const std::size_t size_b = members[at(b)].size();
    return size_a != size_b ? size_a < size_b : a > b;
  };
  std::priority_queue<PartId, std::vector<PartId>, decltype(smaller)> largest(smaller);
  for (PartId p = 0; p < parts; ++p) {
    if (sizes[at(p)] > 0) largest.push(p);
  }
  PartId repaired = 0;
  for (PartId p = 0; p < parts; ++p) {
    if (sizes[at(p)] > 0) continue;
    const PartId from = largest.top();
    largest.pop();
    auto& source = members[at(from)];
    const auto kept = static_cast<std::ptrdiff_t>((source.size() + 1) / 2);
    members[at(p)].assign(source.begin() + kept, source.end());
    source.erase(source.begin() + kept, source.end());
    for (const NodeId node : members[at(p)]) part[at(node)] = p;
    largest.push(from);
    largest.push(p);
    ++repaired;
  }
  return repaired;
}

Assignment assign_nodes(const graph::Csr& neighbours, std::span<const std::int64_t> in_degree,
                        std::span<const std::uint8_t> is_train, const PartitionOptions& options) {
  const NodeId nodes = neighbours.num_nodes();
  check_options(options, nodes);
  if (options.method == Method::kRandom)
    return {.part = assign_at_random(nodes, options.parts, options.seed)};
  // METIS crashes for one part and has nothing to choose for one node in each.
  if (options.method == Method::kBlock || options.parts == 1 || options.parts == nodes) {
    return {.part = assign_blocks(nodes, options.parts), .scheme = options.scheme};
  }
  MetisGraph graph = make_metis_graph(neighbours);
  set_node_weights(graph, in_degree, is_train, options.balance);
  return assign_by_metis(std::move(graph), options);
}

}  // namespace halo::partition
