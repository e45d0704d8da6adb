#pragma once

#include <span>
#include <vector>

#include "halo/base/ids.hpp"
#include "halo/graph/csr.hpp"

namespace halo::partition {

/// The new numbering. Node ids of part k:
///
///   part_offsets[k] ... interior rows ... boundary_begin[k] ... boundary rows ... part_offsets[k + 1]
struct NodeOrder {
  std::vector<NodeId> original_id;     ///< [nodes] by new id: the user's
  std::vector<NodeId> part_offsets;    ///< [parts + 1]
  std::vector<NodeId> boundary_begin;  ///< [parts]

  /// new id of each original id.
  std::vector<NodeId> new_ids() const;
};

/// Numbers the nodes part by part; within a part first the rows without a neighbour outside, then the others,
/// each group in the part's locality_order(). `neighbours` is symmetric and loop-free, so "neighbour" means
/// in either direction. Does not depend on `threads`.
NodeOrder order_nodes(const graph::Csr& neighbours, std::span<const PartId> part, PartId parts, int threads);

}  // namespace halo::partition
