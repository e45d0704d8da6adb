#include "halo/partition/part_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "halo/partition/metis_graph.hpp"

namespace halo::partition {
namespace {

/// Orders runs of parts in place: parts_[position] is the part there; first_[part] is where the run it is in
/// begins.
class PartOrder {
 public:
  PartOrder(const QuotientGraph& quotient, std::uint64_t seed)
      : quotient_(quotient),
        seed_(seed),
        parts_(at(quotient.parts())),
        first_(at(quotient.parts()), 0),
        local_(at(quotient.parts()), -1) {
    std::iota(parts_.begin(), parts_.end(), PartId{0});
    total_edges_ = std::accumulate(quotient.edges.begin(), quotient.edges.end(), EdgeId{0});
  }

  /// Bisects the run [begin, end) of positions down to single parts. A stack, as the depth may reach the
  /// number of parts.
  void order_all() {
    std::vector<std::pair<PartId, PartId>> runs{{0, quotient_.parts()}};
    while (!runs.empty()) {
      const auto [begin, end] = runs.back();
      runs.pop_back();
      if (end - begin < 2) continue;
      const PartId middle = split(begin, end);
      runs.emplace_back(middle, end);
      runs.emplace_back(begin, middle);
    }
  }

  std::vector<PartId> new_numbers() const {
    std::vector<PartId> number(parts_.size());
    for (std::size_t position = 0; position < parts_.size(); ++position) {
      number[at(parts_[position])] = static_cast<PartId>(position);
    }
    return number;
  }

 private:
  std::span<PartId> run(PartId begin, PartId end) {
    return std::span(parts_).subspan(at(begin), at(end - begin));
  }

  /// Puts one half of the run before the other; returns where the second begins.
  PartId split(PartId begin, PartId end) {
    const auto parts = run(begin, end);
    std::vector<PartId> side = bisect(parts);
    if (leans_right(parts, side, begin, end)) {
      for (PartId& s : side) s = 1 - s;
    }
    std::vector<PartId> first;
    std::vector<PartId> second;
    for (std::size_t i = 0; i < parts.size(); ++i) (side[i] == 0 ? first : second).push_back(parts[i]);
    std::ranges::copy(second, std::ranges::copy(first, parts.begin()).out);
    const PartId middle = begin + static_cast<PartId>(first.size());
    for (const PartId p : second) first_[at(p)] = middle;
    return middle;
  }

  /// Side 0 or 1 of each part of a run; both used, by METIS where there is an edge to think about.
  std::vector<PartId> bisect(std::span<const PartId> parts) {
    std::vector<PartId> halves(parts.size(), 0);
    std::fill(halves.begin() + static_cast<std::ptrdiff_t>((parts.size() + 1) / 2), halves.end(), 1);
    if (parts.size() == 2) return halves;
    MetisGraph graph = subgraph(parts);
    if (graph.neighbours.empty()) return halves;
    std::vector<PartId> side = run_metis(graph, {.parts = 2,
                                                 .scheme = Scheme::kRecursive,
                                                 .objective = Objective::kCut,
                                                 .imbalance = 1.001,
                                                 .seed = seed_});
    const auto second = std::ranges::count(side, PartId{1});
    const auto smaller = std::min(second, std::ssize(side) - second);
    return smaller == 0 || 4 * smaller < std::ssize(side) - 3 ? halves : side;
  }

  /// The quotient graph of a run, edge counts scaled so that their sum fits METIS' 32 bits.
  MetisGraph subgraph(std::span<const PartId> parts) {
    const EdgeId scale = total_edges_ / (std::numeric_limits<std::int32_t>::max() / 2) + 1;
    for (std::size_t i = 0; i < parts.size(); ++i) local_[at(parts[i])] = static_cast<PartId>(i);
    MetisGraph graph;
    for (const PartId p : parts) {
      for (EdgeId e = quotient_.offsets[at(p)]; e < quotient_.offsets[at(p) + 1]; ++e) {
        const PartId other = local_[at(quotient_.neighbours[at(e)])];
        if (other < 0) continue;
        graph.neighbours.push_back(other);
        graph.edge_weights.push_back(static_cast<std::int32_t>(quotient_.edges[at(e)] / scale + 1));
      }
      graph.offsets.push_back(static_cast<std::int32_t>(graph.neighbours.size()));
    }
    for (const PartId p : parts) local_[at(p)] = -1;
    return graph;
  }

  /// True if side 0 has more edges to the right of the run and side 1 more to its left than the other way
  /// round.
  bool leans_right(std::span<const PartId> parts, std::span<const PartId> side, PartId begin,
                   PartId end) const {
    EdgeId pull = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::size_t p = at(parts[i]);
      for (EdgeId e = quotient_.offsets[p]; e < quotient_.offsets[p + 1]; ++e) {
        const PartId other = first_[at(quotient_.neighbours[at(e)])];
        if (other >= begin && other < end) continue;
        const bool to_right = other >= end;
        pull += (to_right == (side[i] == 0)) ? quotient_.edges[at(e)] : -quotient_.edges[at(e)];
      }
    }
    return pull > 0;
  }

  const QuotientGraph& quotient_;
  std::uint64_t seed_;
  EdgeId total_edges_ = 0;
  std::vector<PartId> parts_;
  std::vector<PartId> first_;
  std::vector<PartId> local_;
};

/// Nodes grouped by part (counting sort): offsets [parts + 1] into `nodes`.
std::pair<std::vector<NodeId>, std::vector<NodeId>> group_by_part(std::span<const PartId> part,
                                                                  PartId parts) {
  std::vector<NodeId> offsets(at(parts) + 1, 0);
  for (const PartId p : part) ++offsets[at(p) + 1];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<NodeId> next(offsets.begin(), offsets.end() - 1);
  std::vector<NodeId> nodes(part.size());
  for (std::size_t i = 0; i < part.size(); ++i) nodes[at(next[at(part[i])]++)] = static_cast<NodeId>(i);
  return {std::move(offsets), std::move(nodes)};
}

}  // namespace

QuotientGraph make_quotient(const graph::Csr& neighbours, std::span<const PartId> part, PartId parts) {
  const auto [offsets, nodes] = group_by_part(part, parts);
  QuotientGraph quotient;
  std::vector<EdgeId> edges_to(at(parts), 0);
  std::vector<PartId> met;
  for (PartId p = 0; p < parts; ++p) {
    met.clear();
    for (NodeId i = offsets[at(p)]; i < offsets[at(p) + 1]; ++i) {
      for (const NodeId j : neighbours.neighbours(nodes[at(i)])) {
        const PartId q = part[at(j)];
        if (q == p) continue;
        if (edges_to[at(q)]++ == 0) met.push_back(q);
      }
    }
    std::ranges::sort(met);
    for (const PartId q : met) {
      quotient.neighbours.push_back(q);
      quotient.edges.push_back(edges_to[at(q)]);
      edges_to[at(q)] = 0;
    }
    quotient.offsets.push_back(static_cast<EdgeId>(quotient.neighbours.size()));
  }
  return quotient;
}

std::vector<PartId> order_parts(const QuotientGraph& quotient, std::uint64_t seed) {
  PartOrder order(quotient, seed);
  order.order_all();
  return order.new_numbers();
}

}  // namespace halo::partition
