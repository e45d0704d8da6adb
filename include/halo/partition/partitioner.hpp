#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halo/graph/csr.hpp"
#include "halo/partition/partition_options.hpp"

namespace halo::partition {

/// The part of each node, every part in [0, K) used.
struct Assignment {
  std::vector<PartId> part;
  /// What gave the parts; differs from the options where k-way left parts empty and recursive bisection did
  /// better.
  Scheme scheme = Scheme::kKway;
  PartId repaired = 0;  ///< parts that were empty and got half of the then largest part
};

/// Gives each node its part. `neighbours` is symmetric and loop-free without duplicates
/// (graph::symmetric_loop_free); `in_degree` and `is_train` are [nodes], what --balance edges and train
/// weigh. A figure that is zero for all nodes is not balanced. InputError as check_options, or where the
/// graph does not fit METIS' 32 bits. Deterministic in the options.
Assignment assign_nodes(const graph::Csr& neighbours, std::span<const std::int64_t> in_degree,
                        std::span<const std::uint8_t> is_train, const PartitionOptions& options);

/// Number of nodes in each of `parts` parts.
std::vector<NodeId> part_sizes(std::span<const PartId> part, PartId parts);

/// Gives every empty part half of the then largest one (its nodes with the largest ids; the lowest part
/// number among equals). Returns how many parts were empty. Needs at least as many nodes as parts.
PartId repair_empty_parts(std::span<PartId> part, PartId parts);

}  // namespace halo::partition
