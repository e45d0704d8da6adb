#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halo/base/ids.hpp"
#include "halo/graph/csr.hpp"

namespace halo::partition {

/// The new numbering. Node ids of part k:
///
///   part_offsets[k] ... interior rows ... boundary_begin[k] ... boundary rows ... part_offsets[k + 1]
///
/// and within interior and boundary by level, the lowest first: that training needs them together, or not.
struct NodeOrder {
  std::vector<NodeId> original_id;     ///< [nodes] by new id: the user's
  std::vector<NodeId> part_offsets;    ///< [parts + 1]
  std::vector<NodeId> boundary_begin;  ///< [parts]
  std::vector<NodeId> level_begin;     ///< first of each run of one level within interior or boundary

  /// new id of each original id.
  std::vector<NodeId> new_ids() const;
};

/// Numbers the nodes part by part; within a part first the rows without a neighbour outside, then the others,
/// each by level (halo/graph/row_levels.hpp), rows of one level in the part's locality_order(). `neighbours`
/// is symmetric and loop-free, so "neighbour" means in either direction. Does not depend on `threads`.
NodeOrder order_nodes(const graph::Csr& neighbours, std::span<const PartId> part, PartId parts,
                      std::span<const std::uint8_t> level, int threads);

}  // namespace halo::partition
