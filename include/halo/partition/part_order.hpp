#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halo/base/ids.hpp"
#include "halo/graph/csr.hpp"

namespace halo::partition {

/// The graph of parts: p and q are neighbours with as many edges as run between their nodes. Symmetric, no
/// loops.
struct QuotientGraph {
  std::vector<EdgeId> offsets{0};  ///< parts + 1
  std::vector<PartId> neighbours;  ///< ascending in each row
  std::vector<EdgeId> edges;       ///< one for each neighbour

  PartId parts() const { return static_cast<PartId>(offsets.size()) - 1; }
};

/// `neighbours` symmetric; `part` [nodes] in [0, parts).
QuotientGraph make_quotient(const graph::Csr& neighbours, std::span<const PartId> part, PartId parts);

/// Numbers the parts so that close numbers are close in the graph: recursive bisection by METIS (equal
/// numbers of parts, few edges cut), the halves of each cut turned so that each lies towards the parts it has
/// most edges with. Then any contiguous run of parts is itself a good part. Returns the new number of each
/// part. Deterministic in the seed.
std::vector<PartId> order_parts(const QuotientGraph& quotient, std::uint64_t seed);

}  // namespace halo::partition
