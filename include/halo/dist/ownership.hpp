#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halo/base/ids.hpp"

namespace halo::dist {

/// Which contiguous run of parts, and so which contiguous run of node ids, each rank owns.
struct Ownership {
  std::vector<PartId> first_part;  ///< ranks + 1
  std::vector<NodeId> first_node;  ///< ranks + 1

  int ranks() const { return static_cast<int>(first_part.size()) - 1; }
  Rank owner_of(NodeId node) const;
  RowRange nodes_of(Rank rank) const;
};

/// Cuts the parts into `ranks` contiguous runs whose largest total work is as small as possible (exact:
/// bisection on the bottleneck), every rank at least one part. `part_offsets` is [K + 1], `work` [K] >= 0.
/// InputError if ranks > K.
Ownership assign_parts(std::span<const NodeId> part_offsets, std::span<const std::int64_t> work, int ranks);

}  // namespace halo::dist
