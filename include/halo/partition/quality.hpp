#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "halo/base/ids.hpp"
#include "halo/graph/csr.hpp"
#include "halo/partition/node_order.hpp"

namespace halo::partition {

/// What crosses the parts' borders when rows pull from their neighbours in one direction. Exact counts, one
/// for each part.
struct HaloFigures {
  std::vector<std::int64_t> halo_rows;    ///< distinct nodes of other parts that this part needs
  std::vector<std::int64_t> sent_rows;    ///< its own nodes, once for each part that needs them
  std::vector<std::int64_t> owner_parts;  ///< number of parts that own its halo rows
  std::vector<std::int64_t> cut_entries;  ///< entries of its rows that name a node of another part
};

/// `rows` in new ids.
HaloFigures measure_halo(const graph::Csr& rows, std::span<const NodeId> part_offsets);

/// How good a partitioning is.
struct Quality {
  NodeId num_nodes = 0;
  EdgeId num_edges = 0;
  bool symmetric = true;
  std::vector<std::int64_t> nodes, boundary_nodes, edges,
      train_nodes;  ///< [parts]; edges: entries of the in-edge rows
  HaloFigures in;   ///< forward: rows pull from in-neighbours
  HaloFigures out;  ///< backward: from out-neighbours; empty where symmetric (then the same as `in`)
};

/// `out` is not looked at where `symmetric`. `is_train` is [nodes] by new id.
Quality measure_quality(const graph::Csr& in, const graph::Csr& out, bool symmetric, const NodeOrder& order,
                        std::span<const std::uint8_t> is_train);

/// Sums, means, extremes; and the figures of each part where there are at most kPartsInFull.
nlohmann::json to_json(const Quality& quality);
inline constexpr std::int64_t kPartsInFull = 256;

/// The same as a table for a terminal, one line for each figure.
std::string to_table(const Quality& quality);

}  // namespace halo::partition
