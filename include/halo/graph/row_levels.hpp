#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "halo/graph/local_graph.hpp"

namespace halo::graph {

// How far is a row from the rows that the loss is a sum over? Level 0: it is one of them; level k + 1: an
// in-neighbour of a row of level k, and of none below; the last level: all others. The loss depends on a
// value that k sums over neighbours still follow in the rows of levels 0 to k alone.
//
// All rows of a tile have the lowest level among them, so that tiles are worked on whole or not at all.
// gnn_partition puts rows of one level side by side.

inline constexpr std::uint8_t kLastLevel = 3;

/// Levels of the nodes of a whole graph, each for itself: no tiles yet.
std::vector<std::uint8_t> find_levels(const Csr& in_edges, std::span<const std::uint8_t> starts);

/// Fills `level`, halo_level and the levels of the tiles. `starts`: owned, 1 for the rows of level 0.
/// `fetch_halo_levels` fills halo_level of both directions from the owners; it is called kLastLevel times,
/// on every rank.
void mark_levels(LocalGraph& graph, std::span<const std::uint8_t> starts,
                 const std::function<void(LocalGraph&)>& fetch_halo_levels);

/// The edges of `whole` into columns of at most this level. `level`: of the owned nodes.
Adjacency edges_to_level(const Adjacency& whole, std::span<const std::uint8_t> level, std::uint8_t highest);

}  // namespace halo::graph
