#include "halo/partition/reverse_edges.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <vector>

#include "halo/base/error.hpp"

namespace halo::partition {
namespace {

/// A walk over one row: runs of edges with the same neighbour.
class RowRuns {
 public:
  RowRuns(const graph::Csr& graph, NodeId row)
      : graph_(graph), begin_(graph.indptr[at(row)]), row_end_(graph.indptr[at(row) + 1]) {
    find_end();
  }
  bool done() const { return begin_ == row_end_; }
  NodeId neighbour() const { return graph_.indices[at(begin_)]; }
  EdgeId size() const { return end_ - begin_; }
  void next() {
    begin_ = end_;
    find_end();
  }
  /// Weights of the run, ascending; empty if unweighted.
  std::vector<float> weights() const {
    if (graph_.weights.empty()) return {};
    std::vector<float> weights(graph_.weights.begin() + begin_, graph_.weights.begin() + end_);
    std::ranges::sort(weights);
    return weights;
  }

 private:
  void find_end() {
    end_ = begin_;
    while (end_ < row_end_ && graph_.indices[at(end_)] == graph_.indices[at(begin_)]) ++end_;
  }
  const graph::Csr& graph_;
  EdgeId begin_;
  EdgeId row_end_;
  EdgeId end_ = 0;
};

void append(const RowRuns& run, graph::Csr& result) {
  result.indices.insert(result.indices.end(), at(run.size()), run.neighbour());
  const std::vector<float> weights = run.weights();
  result.weights.insert(result.weights.end(), weights.begin(), weights.end());
}

void check_weights(const RowRuns& in, const RowRuns& out, NodeId row) {
  if (in.weights() == out.weights()) return;
  throw InputError({.what = "an edge and its reverse weigh differently, so --undirected cannot choose",
                    .where = fmt::format("edges between the nodes {} and {}", row, in.neighbour()),
                    .found = fmt::format("weights [{}] and [{}]", fmt::join(in.weights(), ", "),
                                         fmt::join(out.weights(), ", ")),
                    .expected = "the same weights in both directions, or one direction only",
                    .next = "partition without --undirected, or make the weights equal"});
}

}  // namespace

graph::Csr add_reverse_edges(const graph::Csr& graph) {
  const graph::Csr reverse = graph::transpose(graph);
  graph::Csr result;
  result.indptr.reserve(graph.indptr.size());
  result.indices.reserve(graph.indices.size());
  for (NodeId row = 0; row < graph.num_nodes(); ++row) {
    RowRuns in(graph, row);
    RowRuns out(reverse, row);
    while (!in.done() || !out.done()) {
      if (out.done() || (!in.done() && in.neighbour() < out.neighbour())) {
        append(in, result);
        in.next();
      } else if (in.done() || out.neighbour() < in.neighbour()) {
        append(out, result);
        out.next();
      } else {
        if (!graph.weights.empty()) check_weights(in, out, row);
        append(in.size() >= out.size() ? in : out, result);
        in.next();
        out.next();
      }
    }
    result.indptr.push_back(result.num_edges());
  }
  return result;
}

}  // namespace halo::partition
