#include "halo/dist/ownership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "halo/base/error.hpp"

namespace halo::dist {
namespace {

/// Number of contiguous runs that greedy filling up to `limit` needs; `limit` is at least the largest work.
std::int64_t runs_needed(std::span<const std::int64_t> work, std::int64_t limit) {
  std::int64_t runs = 1;
  std::int64_t filled = 0;
  for (const std::int64_t w : work) {
    if (w > limit - filled) {
      ++runs;
      filled = 0;
    }
    filled += w;
  }
  return runs;
}

/// The smallest limit with which `ranks` runs are enough. Splitting a run never raises the largest, so "at
/// least one part for every rank" costs nothing.
std::int64_t smallest_bottleneck(std::span<const std::int64_t> work, int ranks) {
  std::int64_t low = *std::max_element(work.begin(), work.end());
  std::int64_t high = std::accumulate(work.begin(), work.end(), std::int64_t{0});
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (runs_needed(work, middle) <= ranks) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

Rank Ownership::owner_of(NodeId node) const {
  // The last rank that starts at or before the node: ranks before it that start there too own nothing.
  return static_cast<Rank>(std::upper_bound(first_node.begin(), first_node.end(), node) -
                           first_node.begin()) -
         1;
}

RowRange Ownership::nodes_of(Rank rank) const {
  const auto r = static_cast<std::size_t>(rank);
  return {first_node[r], first_node[r + 1]};
}

Ownership assign_parts(std::span<const NodeId> part_offsets, std::span<const std::int64_t> work, int ranks) {
  const auto parts = static_cast<PartId>(work.size());
  if (part_offsets.size() != work.size() + 1)
    throw Error("assign_parts: part_offsets must be one longer than work");
  if (ranks < 1) throw Error("assign_parts: no ranks");
  if (ranks > parts) {
    throw InputError(
        {.what = "more ranks than parts",
         .where = "",
         .found = fmt::format("{} ranks, {} parts", ranks, parts),
         .expected = fmt::format("at most {} ranks: every rank owns at least one part", parts),
         .next = fmt::format("run on at most {} ranks, or partition again with --parts {} or more", parts,
                             ranks)});
  }
  const std::int64_t limit = smallest_bottleneck(work, ranks);
  Ownership ownership;
  PartId part = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    ownership.first_part.push_back(part);
    ownership.first_node.push_back(part_offsets[static_cast<std::size_t>(part)]);
    const PartId last = parts - (ranks - rank - 1);  // leaves one part for each rank to come
    std::int64_t filled = work[static_cast<std::size_t>(part++)];
    while (part < last && work[static_cast<std::size_t>(part)] <= limit - filled) {
      filled += work[static_cast<std::size_t>(part++)];
    }
  }
  ownership.first_part.push_back(parts);
  ownership.first_node.push_back(part_offsets.back());
  return ownership;
}

}  // namespace halo::dist
