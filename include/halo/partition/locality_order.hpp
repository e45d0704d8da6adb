#pragma once

#include <cstdint>
#include <vector>

#include "halo/base/ids.hpp"

namespace halo::partition {

/// Neighbours within one part, in numbers local to it. Symmetric, no loops.
struct PartSubgraph {
  std::vector<EdgeId> offsets{0};
  std::vector<LocalId> neighbours;

  LocalId num_nodes() const { return static_cast<LocalId>(offsets.size()) - 1; }
  LocalId degree(LocalId node) const {
    return static_cast<LocalId>(offsets[static_cast<std::size_t>(node) + 1] -
                                offsets[static_cast<std::size_t>(node)]);
  }
};

/// Cuthill and McKee's order ("Reducing the bandwidth of sparse symmetric matrices", 1969): breadth first,
/// nodes of low degree first, from a node at the rim of each connected component. Components in the order of
/// their lowest node; nodes without a neighbour last, by number. Returns the nodes in their order. Linear but
/// for the sorting of siblings.
std::vector<LocalId> locality_order(const PartSubgraph& graph);

}  // namespace halo::partition
