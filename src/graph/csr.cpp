#include "halo/graph/csr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "halo/base/error.hpp"

namespace halo::graph {
namespace {

void check_ids(NodeId num_nodes, std::span<const NodeId> ids, const char* what) {
  for (std::size_t e = 0; e < ids.size(); ++e) {
    if (ids[e] < 0 || ids[e] >= num_nodes) {
      throw Error(fmt::format("{} of edge {} is {}, outside [0, {})", what, e, ids[e], num_nodes));
    }
  }
}

/// indptr of rows whose sizes are counted in counts[i + 1].
void counts_to_offsets(std::vector<EdgeId>& counts) {
  std::partial_sum(counts.begin(), counts.end(), counts.begin());
}

/// Sorts each row by neighbour (stable, weights along).
void sort_rows(Csr& graph) {
  std::vector<std::pair<NodeId, float>> row;
  for (NodeId i = 0; i < graph.num_nodes(); ++i) {
    const auto begin = graph.indices.begin() + graph.indptr[at(i)];
    const auto end = graph.indices.begin() + graph.indptr[at(i + 1)];
    if (std::is_sorted(begin, end)) continue;
    if (graph.weights.empty()) {
      std::sort(begin, end);
      continue;
    }
    row.clear();
    for (EdgeId e = graph.indptr[at(i)]; e < graph.indptr[at(i + 1)]; ++e) {
      row.emplace_back(graph.indices[at(e)], graph.weights[at(e)]);
    }
    std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    EdgeId e = graph.indptr[at(i)];
    for (const auto& [node, weight] : row) {
      graph.indices[at(e)] = node;
      graph.weights[at(e++)] = weight;
    }
  }
}

}  // namespace

Csr build_in_edges(NodeId num_nodes, std::span<const NodeId> sources, std::span<const NodeId> targets,
                   std::span<const float> weights) {
  if (sources.size() != targets.size() || (!weights.empty() && weights.size() != sources.size())) {
    throw Error(fmt::format("edge arrays of unequal length: {} sources, {} targets, {} weights",
                            sources.size(), targets.size(), weights.size()));
  }
  check_ids(num_nodes, sources, "source");
  check_ids(num_nodes, targets, "target");
  Csr graph;
  graph.indptr.assign(at(num_nodes) + 1, 0);
  for (const NodeId target : targets) ++graph.indptr[at(target) + 1];
  counts_to_offsets(graph.indptr);
  graph.indices.resize(sources.size());
  graph.weights.resize(weights.size());
  std::vector<EdgeId> next(graph.indptr.begin(), graph.indptr.end() - 1);
  for (std::size_t e = 0; e < sources.size(); ++e) {
    const auto slot = at(next[at(targets[e])]++);
    graph.indices[slot] = sources[e];
    if (!weights.empty()) graph.weights[slot] = weights[e];
  }
  sort_rows(graph);
  return graph;
}

Csr transpose(const Csr& graph) {
  Csr result;
  result.indptr.assign(graph.indptr.size(), 0);
  for (const NodeId j : graph.indices) ++result.indptr[at(j) + 1];
  counts_to_offsets(result.indptr);
  result.indices.resize(graph.indices.size());
  result.weights.resize(graph.weights.size());
  std::vector<EdgeId> next(result.indptr.begin(), result.indptr.end() - 1);
  // Rows are visited in ascending order, so each row of the result comes out ascending.
  for (NodeId i = 0; i < graph.num_nodes(); ++i) {
    for (EdgeId e = graph.indptr[at(i)]; e < graph.indptr[at(i + 1)]; ++e) {
      const auto slot = at(next[at(graph.indices[at(e)])]++);
      result.indices[slot] = i;
      if (!graph.weights.empty()) result.weights[slot] = graph.weights[at(e)];
    }
  }
  return result;
}

bool is_symmetric(const Csr& graph) {
  const Csr other = transpose(graph);
  return other.indptr == graph.indptr && other.indices == graph.indices && other.weights == graph.weights;
}

Csr symmetric_loop_free(const Csr& graph) {
  const Csr other = transpose(graph);
  Csr result;
  result.indptr.assign(graph.indptr.size(), 0);
  result.indices.reserve(graph.indices.size());
  std::vector<NodeId> row;
  for (NodeId i = 0; i < graph.num_nodes(); ++i) {
    row.clear();
    std::ranges::merge(graph.neighbours(i), other.neighbours(i), std::back_inserter(row));
    row.erase(std::unique(row.begin(), row.end()), row.end());
    std::erase(row, i);
    result.indices.insert(result.indices.end(), row.begin(), row.end());
    result.indptr[at(i + 1)] = static_cast<EdgeId>(result.indices.size());
  }
  return result;
}

Csr relabel(const Csr& graph, std::span<const NodeId> new_id) {
  const NodeId nodes = graph.num_nodes();
  if (static_cast<NodeId>(new_id.size()) != nodes) {
    throw Error(fmt::format("relabelling of {} nodes given for a graph of {}", new_id.size(), nodes));
  }
  Csr result;
  result.indptr.assign(graph.indptr.size(), 0);
  for (NodeId i = 0; i < nodes; ++i) {
    result.indptr[at(new_id[at(i)]) + 1] = graph.indptr[at(i + 1)] - graph.indptr[at(i)];
  }
  counts_to_offsets(result.indptr);
  result.indices.resize(graph.indices.size());
  result.weights.resize(graph.weights.size());
  for (NodeId i = 0; i < nodes; ++i) {
    EdgeId slot = result.indptr[at(new_id[at(i)])];
    for (EdgeId e = graph.indptr[at(i)]; e < graph.indptr[at(i + 1)]; ++e, ++slot) {
      result.indices[at(slot)] = new_id[at(graph.indices[at(e)])];
      if (!graph.weights.empty()) result.weights[at(slot)] = graph.weights[at(e)];
    }
  }
  sort_rows(result);
  return result;
}

EdgeId count_duplicates(const Csr& graph) {
  EdgeId duplicates = 0;
  for (NodeId i = 0; i < graph.num_nodes(); ++i) {
    const auto row = graph.neighbours(i);
    for (std::size_t e = 1; e < row.size(); ++e) duplicates += row[e] == row[e - 1] ? 1 : 0;
  }
  return duplicates;
}

}  // namespace halo::graph
