#pragma once

#include <cstdint>
#include <vector>

#include "halo/base/counter_rng.hpp"
#include "halo/graph/csr.hpp"

namespace halo::partition {

/// Graphs given as a list of edges source -> target.
struct EdgeList {
  NodeId nodes = 0;
  std::vector<NodeId> sources{}, targets{};
  std::vector<float> weights{};  ///< empty, or one for each edge

  void add(NodeId source, NodeId target) {
    sources.push_back(source);
    targets.push_back(target);
  }
  void add_both(NodeId a, NodeId b) {
    add(a, b);
    add(b, a);
  }
  graph::Csr csr() const { return graph::build_in_edges(nodes, sources, targets, weights); }
};

/// width x height grid, node y * width + x, both directions.
inline EdgeList grid(NodeId width, NodeId height) {
  EdgeList edges{.nodes = width * height};
  for (NodeId node = 0; node < edges.nodes; ++node) {
    if (node % width + 1 < width) edges.add_both(node, node + 1);
    if (node + width < edges.nodes) edges.add_both(node, node + width);
  }
  return edges;
}

/// Node 0 with an edge to and from every other node.
inline EdgeList star(NodeId nodes) {
  EdgeList edges{.nodes = nodes};
  for (NodeId node = 1; node < nodes; ++node) edges.add_both(0, node);
  return edges;
}

/// What random_graph() draws.
struct Shape {
  NodeId nodes = 1;
  std::int64_t edges = 0;
  bool directed = false;
  bool weighted = false;
};

/// Edges between random ends in the first two thirds of the nodes, so that some nodes are isolated and loops
/// and duplicates occur.
inline EdgeList random_graph(const Shape& shape, std::uint64_t seed) {
  EdgeList graph{.nodes = shape.nodes};
  RandomStream random(CounterRng(seed, 0, 0).row_key(0));
  const auto bound = static_cast<std::uint64_t>(shape.nodes - shape.nodes / 3);
  for (std::int64_t e = 0; e < shape.edges; ++e) {
    const auto a = static_cast<NodeId>(random.below(bound));
    const auto b = static_cast<NodeId>(random.below(bound));
    const auto weight = static_cast<float>(random.below(8)) + 0.5F;
    graph.add(a, b);
    if (!shape.directed && a != b) graph.add(b, a);
    if (shape.weighted) graph.weights.resize(graph.sources.size(), weight);
  }
  return graph;
}

}  // namespace halo::partition
