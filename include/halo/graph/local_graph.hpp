#pragma once

#include <cstdint>
#include <vector>

#include "halo/base/ids.hpp"

namespace halo::graph {

struct Csr;

/// Rows of owned nodes with neighbours in local ids. Each row is in the order of the *global* node ids of its
/// neighbours, so that sums over it are the same on any rank.
struct Adjacency {
  std::vector<EdgeId> indptr{0};           ///< owned + 1
  std::vector<LocalId> columns;            ///< < owned: owned node; else halo node
  std::vector<float> weights;              ///< one for each column; empty: every edge weighs 1
  LocalId halo = 0;                        ///< halo nodes of this direction; columns are < owned + halo
  std::vector<NodeId> halo_original_id{};  ///< halo: the user's ids of the halo nodes
  std::vector<std::uint8_t> halo_level{};  ///< halo: levels of the halo nodes, where they are known
};

/// Rows [rows.begin, rows.end) of local ids, at most `tile_rows` of the dataset; never crosses a part.
struct Tile {
  RowRange rows;
  std::uint8_t level = 0;  ///< of all its rows; 0 as long as levels are not known

  friend bool operator==(const Tile&, const Tile&) = default;
};

/// A run of consecutive tiles of one part: what a thread takes, and what one exact reduction term sums over.
struct TileGroup {
  std::int32_t first_tile = 0;
  std::int32_t last_tile = 0;  ///< one past
  bool interior_in = true;  ///< no column of `in` is a halo node: can be computed while the halo is in flight
  bool interior_out = true;  ///< the same for `out`
};

/// One rank's share of the graph: rows of its owned nodes, in local ids.
///
///   local id   0 ........ owned | owned ........ owned + halo
///   global id  first_node + i   | the halo nodes, by owner rank and id
struct LocalGraph {
  NodeId global_nodes = 0;
  EdgeId global_edges = 0;
  NodeId first_node = 0;
  LocalId owned = 0;
  bool symmetric = true;             ///< then out_edges() is `in`
  Adjacency in;                      ///< N(i): sources of the edges into i
  Adjacency out_if_directed;         ///< M(j): targets of the edges out of j; unused where symmetric
  std::vector<NodeId> original_id;   ///< owned: the user's id, key of every random number
  std::vector<double> in_degree;     ///< owned: number (sum of weights) of in-edges, global, loops included
  std::vector<float> loop_to_add;    ///< owned: weight of the loop i -> i to add; 0 where there is one
  std::vector<std::uint8_t> active;  ///< owned: 1 for rows that count in statistics over rows; empty: all do
  NodeId global_active = 0;          ///< active rows of all ranks; global_nodes where `active` is empty
  bool has_levels = false;           ///< on every rank, also on one that owns nothing
  std::vector<std::uint8_t> level;   ///< owned, where levels are known: see row_levels.hpp
  std::vector<Tile> tiles;
  std::vector<TileGroup> groups;

  const Adjacency& out() const { return symmetric ? in : out_if_directed; }
};

/// Fills in_degree and loop_to_add from `in` (loops are columns equal to their row).
void set_degrees(LocalGraph& graph);
/// Fills interior_in / interior_out of every group from the columns.
void mark_interior_groups(LocalGraph& graph);

/// The whole of a small graph on one rank, cut into tiles of `tile_rows` and groups of `tiles_per_group`: for
/// tests and for runs without MPI. original_id is the identity.
LocalGraph whole_graph(const Csr& in_edges, std::int64_t tile_rows, std::int32_t tiles_per_group);

}  // namespace halo::graph
