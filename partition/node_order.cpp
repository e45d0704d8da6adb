#include "halo/partition/node_order.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "halo/base/checked_cast.hpp"
#include "halo/base/parallel.hpp"
#include "halo/partition/locality_order.hpp"

namespace halo::partition {
namespace {

/// Number of each node within its part, by id.
std::vector<LocalId> number_within_parts(std::span<const PartId> part, PartId parts) {
  std::vector<NodeId> next(at(parts), 0);
  std::vector<LocalId> local(part.size());
  for (std::size_t i = 0; i < part.size(); ++i) {
    local[i] = checked_cast<LocalId>(next[at(part[i])]++, "number of nodes of a part");
  }
  return local;
}

struct PartRows {
  PartSubgraph graph;
  std::vector<char> is_boundary;  ///< [members]
};

/// Rows of the part's members among themselves.
PartRows rows_of_part(const graph::Csr& neighbours, std::span<const PartId> part,
                      std::span<const LocalId> local, std::span<const NodeId> members) {
  PartRows rows;
  rows.graph.offsets.reserve(members.size() + 1);
  rows.is_boundary.assign(members.size(), 0);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const PartId own = part[at(members[i])];
    for (const NodeId j : neighbours.neighbours(members[i])) {
      if (part[at(j)] == own) {
        rows.graph.neighbours.push_back(local[at(j)]);
      } else {
        rows.is_boundary[i] = 1;
      }
    }
    rows.graph.offsets.push_back(static_cast<EdgeId>(rows.graph.neighbours.size()));
  }
  return rows;
}

void find_level_runs(std::span<const std::uint8_t> level, NodeOrder& order) {
  for (std::size_t p = 0; p < order.boundary_begin.size(); ++p) {
    const NodeId lines[] = {order.part_offsets[p], order.boundary_begin[p], order.part_offsets[p + 1]};
    for (std::size_t run = 0; run < 2; ++run) {
      for (NodeId i = lines[run]; i < lines[run + 1]; ++i) {
        const bool first =
            i == lines[run] || level[at(order.original_id[at(i)])] != level[at(order.original_id[at(i - 1)])];
        if (first) order.level_begin.push_back(i);
      }
    }
  }
}

}  // namespace

std::vector<NodeId> NodeOrder::new_ids() const {
  std::vector<NodeId> result(original_id.size());
  for (std::size_t i = 0; i < original_id.size(); ++i) result[at(original_id[i])] = static_cast<NodeId>(i);
  return result;
}

NodeOrder order_nodes(const graph::Csr& neighbours, std::span<const PartId> part, PartId parts,
                      std::span<const std::uint8_t> level, int threads) {
  NodeOrder order;
  order.part_offsets.assign(at(parts) + 1, 0);
  for (const PartId p : part) ++order.part_offsets[at(p) + 1];
  std::partial_sum(order.part_offsets.begin(), order.part_offsets.end(), order.part_offsets.begin());
  order.original_id.resize(part.size());
  order.boundary_begin.resize(at(parts));
  const std::vector<LocalId> local = number_within_parts(part, parts);
  for (std::size_t i = 0; i < part.size(); ++i) {
    order.original_id[at(order.part_offsets[at(part[i])] + local[i])] = static_cast<NodeId>(i);
  }
  parallel_for(parts, threads, [&](std::int64_t p, int) {
    const NodeId begin = order.part_offsets[at(p)];
    const auto members =
        std::span(order.original_id).subspan(at(begin), at(order.part_offsets[at(p) + 1] - begin));
    const PartRows rows = rows_of_part(neighbours, part, local, members);
    std::vector<LocalId> sequence = locality_order(rows.graph);
    const auto rank_of = [&](LocalId node) {
      return std::pair(rows.is_boundary[at(node)], level[at(members[at(node)])]);
    };
    std::ranges::stable_sort(sequence, {}, rank_of);
    const auto boundary =
        std::ranges::find_if(sequence, [&rows](LocalId node) { return rows.is_boundary[at(node)] != 0; });
    order.boundary_begin[at(p)] = begin + (boundary - sequence.begin());
    const std::vector<NodeId> by_id(members.begin(), members.end());
    std::ranges::transform(sequence, members.begin(), [&by_id](LocalId node) { return by_id[at(node)]; });
  });
  find_level_runs(level, order);
  return order;
}

}  // namespace halo::partition
