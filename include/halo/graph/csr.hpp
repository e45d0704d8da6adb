#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halo/base/ids.hpp"

namespace halo::graph {

/// Compressed sparse rows of a whole graph: the neighbours of node i are indices[indptr[i] .. indptr[i + 1]),
/// ascending. As in-edges, row i holds the sources j of the edges j -> i (the in-neighbours N(i)).
struct Csr {
  std::vector<EdgeId> indptr{0};
  std::vector<NodeId> indices;
  std::vector<float> weights;  ///< one for each index; empty: every edge weighs 1

  NodeId num_nodes() const { return static_cast<NodeId>(indptr.size()) - 1; }
  EdgeId num_edges() const { return static_cast<EdgeId>(indices.size()); }
  std::span<const NodeId> neighbours(NodeId node) const {
    const auto begin = static_cast<std::size_t>(indptr[static_cast<std::size_t>(node)]);
    const auto end = static_cast<std::size_t>(indptr[static_cast<std::size_t>(node) + 1]);
    return std::span(indices).subspan(begin, end - begin);
  }
};

/// In-edge rows of the edges sources[e] -> targets[e] (`weights` empty or one each): counting sort by target,
/// then each row sorted by source. Throws Error on an id outside [0, num_nodes) or arrays of unequal length.
/// Duplicate edges are kept.
Csr build_in_edges(NodeId num_nodes, std::span<const NodeId> sources, std::span<const NodeId> targets,
                   std::span<const float> weights = {});

/// The same edges by their other end: row j of the result holds every i with j in row i. Rows ascending.
Csr transpose(const Csr& graph);

/// True if the graph equals its transpose, weights included.
bool is_symmetric(const Csr& graph);

/// Union of the graph and its transpose without loops and duplicates, unweighted: what METIS wants.
Csr symmetric_loop_free(const Csr& graph);

/// Relabels: node old becomes new_id[old]; rows sorted again. `new_id` is a permutation of [0, num_nodes).
Csr relabel(const Csr& graph, std::span<const NodeId> new_id);

/// Number of equal neighbouring entries in rows, that is of duplicate edges.
EdgeId count_duplicates(const Csr& graph);

}  // namespace halo::graph
