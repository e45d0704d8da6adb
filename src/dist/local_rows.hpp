#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "halo/base/ids.hpp"
#include "halo/graph/local_graph.hpp"

namespace halo::dist {

/// Rows of owned nodes as the files hold them, checked and turned into local ids, with the halo they need.
struct LocalRows {
  graph::Adjacency adjacency;
  std::vector<NodeId> halo;  ///< ascending global ids; column owned + h is halo[h]
};

/// Makes `indptr` (global edge numbers, owned + 1) start at 0. InputError unless it ascends from
/// `edges.begin` to `edges.end`.
void localise_indptr(std::span<EdgeId> indptr, RowRange edges, const std::filesystem::path& file);

/// Maps `indices` (global ids, rows by `indptr`) to local ids of a rank that owns `owned`. InputError on an
/// id outside [0, num_nodes) or a row that is not ascending. Memory: the columns and O(owned + halo); 32-bit
/// indices are mapped in place. Index: std::int32_t or std::int64_t.
template <typename Index>
LocalRows localise_rows(std::vector<EdgeId> indptr, std::vector<Index> indices, RowRange owned,
                        NodeId num_nodes, const std::filesystem::path& file);

}  // namespace halo::dist
