#include "graphs.hpp"

#include <algorithm>

#include "halo/base/counter_rng.hpp"

namespace halo::bench {
namespace {

constexpr std::int64_t kWindow = 1024;

Graph make_clustered(std::int64_t nodes) {
  Graph graph;
  graph.indptr.reserve(static_cast<std::size_t>(nodes) + 1);
  graph.columns.reserve(static_cast<std::size_t>(nodes) * kMeanDegree * 101 / 100);
  graph.indptr.push_back(0);
  RandomStream random(20);
  for (std::int64_t node = 0; node < nodes; ++node) {
    const auto degree = static_cast<int>(random.below(2 * kMeanDegree + 1));
    for (int e = 0; e < degree; ++e) {
      const bool far = random.below(10) == 0;
      const auto near = node - kWindow + static_cast<std::int64_t>(random.below(2 * kWindow + 1));
      const auto anywhere = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(nodes)));
      graph.columns.push_back(
          static_cast<LocalId>(far ? anywhere : std::clamp<std::int64_t>(near, 0, nodes - 1)));
    }
    std::sort(graph.columns.begin() + graph.indptr.back(), graph.columns.end());
    graph.indptr.push_back(graph.num_edges());
  }
  return graph;
}

struct Edge {
  LocalId target = 0;
  LocalId source = 0;
};

Edge rmat_edge(RandomStream& random) {
  Edge edge;
  for (int level = 0; level < kScale; ++level) {
    const double u = random.uniform();
    const int target_bit = u >= 0.76 ? 1 : 0;
    const int source_bit = (u >= 0.57 && u < 0.76) || u >= 0.95 ? 1 : 0;
    edge.target = edge.target * 2 + target_bit;
    edge.source = edge.source * 2 + source_bit;
  }
  return edge;
}

Graph make_skewed() {
  std::vector<Edge> edges(static_cast<std::size_t>(kNodes) * kMeanDegree);
  RandomStream random(21);
  Graph graph;
  graph.indptr.assign(static_cast<std::size_t>(kNodes) + 1, 0);
  for (Edge& edge : edges) {
    edge = rmat_edge(random);
    ++graph.indptr[static_cast<std::size_t>(edge.target) + 1];
  }
  for (std::size_t i = 1; i < graph.indptr.size(); ++i) graph.indptr[i] += graph.indptr[i - 1];
  std::vector<EdgeId> next(graph.indptr.begin(), graph.indptr.end() - 1);
  graph.columns.resize(edges.size());
  for (const Edge& edge : edges) {
    graph.columns[static_cast<std::size_t>(next[static_cast<std::size_t>(edge.target)]++)] = edge.source;
  }
  for (std::size_t i = 0; i + 1 < graph.indptr.size(); ++i) {
    std::sort(graph.columns.begin() + graph.indptr[i], graph.columns.begin() + graph.indptr[i + 1]);
  }
  return graph;
}

}  // namespace

const Graph& clustered_graph() {
  static const Graph graph = make_clustered(kNodes);
  return graph;
}

const Graph& small_clustered_graph() {
  static const Graph graph = make_clustered(kFewNodes);
  return graph;
}

const Graph& skewed_graph() {
  static const Graph graph = make_skewed();
  return graph;
}

}  // namespace halo::bench
