#include "halo/partition/locality_order.hpp"

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/cuthill_mckee_ordering.hpp>
#include <boost/graph/properties.hpp>
#include <deque>
#include <iterator>
#include <span>
#include <utility>

namespace halo::partition {
namespace {

using Vertex = std::uint32_t;
using BoostGraph =
    boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                       boost::no_property, Vertex, std::uint64_t>;

/// Enumerates (source, target) of a PartSubgraph in row order, so that the Boost graph is built without a
/// list of pairs.
class EdgeIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = std::pair<Vertex, Vertex>;
  using difference_type = std::ptrdiff_t;
  using pointer = const value_type*;
  using reference = const value_type&;

  EdgeIterator(const PartSubgraph& graph, EdgeId edge) : graph_(&graph), edge_(edge) { find_current(); }
  reference operator*() const { return current_; }
  pointer operator->() const { return &current_; }
  EdgeIterator& operator++() {
    ++edge_;
    find_current();
    return *this;
  }
  EdgeIterator operator++(int) {
    const EdgeIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const EdgeIterator& a, const EdgeIterator& b) { return a.edge_ == b.edge_; }
  friend bool operator!=(const EdgeIterator& a, const EdgeIterator& b) { return a.edge_ != b.edge_; }

 private:
  void find_current() {
    if (edge_ == graph_->offsets.back()) return;
    while (graph_->offsets[current_.first + 1] <= edge_) ++current_.first;
    current_.second = static_cast<Vertex>(graph_->neighbours[at(edge_)]);
  }
  const PartSubgraph* graph_;
  EdgeId edge_;
  value_type current_{0, 0};
};

/// Breadth-first walks from one node of a component to another; remembers which walk saw a node last.
class RimFinder {
 public:
  explicit RimFinder(const PartSubgraph& graph) : graph_(graph), seen_by_(at(graph.num_nodes()), 0) {}

  bool seen(LocalId node) const { return seen_by_[at(node)] != 0; }

  /// A node far from the middle of the component of `start` (George and Liu's pseudo-peripheral node: walk to
  /// a node of lowest degree on the last level, again while that makes the walk deeper).
  LocalId rim(LocalId start) {
    auto [depth, far] = walk(start);
    LocalId best = start;
    for (int round = 0; round < kMostRounds; ++round) {
      const auto [next_depth, next_far] = walk(far);
      best = far;
      if (next_depth <= depth) break;
      depth = next_depth;
      far = next_far;
    }
    return best;
  }

 private:
  static constexpr int kMostRounds = 4;

  /// Levels of the breadth-first walk from `start`, and the node of lowest degree (then number) on the last
  /// one.
  std::pair<std::int64_t, LocalId> walk(LocalId start) {
    ++walks_;
    queue_.assign(1, start);
    seen_by_[at(start)] = walks_;
    std::int64_t depth = 0;
    std::size_t level_begin = 0;
    for (std::size_t level_end = 1;; level_end = queue_.size()) {
      for (std::size_t i = level_begin; i < level_end; ++i) visit_neighbours(queue_[i]);
      if (queue_.size() == level_end) break;
      level_begin = level_end;
      ++depth;
    }
    LocalId lowest = queue_[level_begin];
    for (std::size_t i = level_begin; i < queue_.size(); ++i) {
      const LocalId node = queue_[i];
      if (std::pair(graph_.degree(node), node) < std::pair(graph_.degree(lowest), lowest)) lowest = node;
    }
    return {depth, lowest};
  }

  void visit_neighbours(LocalId node) {
    for (EdgeId e = graph_.offsets[at(node)]; e < graph_.offsets[at(node) + 1]; ++e) {
      const LocalId other = graph_.neighbours[at(e)];
      if (seen_by_[at(other)] == walks_) continue;
      seen_by_[at(other)] = walks_;
      queue_.push_back(other);
    }
  }

  const PartSubgraph& graph_;
  std::vector<std::int32_t> seen_by_;
  std::vector<LocalId> queue_;
  std::int32_t walks_ = 0;
};

/// One start for each component with an edge. (Boost would find them itself, but resets all nodes for each
/// component.)
std::deque<Vertex> find_starts(const PartSubgraph& graph) {
  RimFinder finder(graph);
  std::deque<Vertex> starts;
  for (LocalId node = 0; node < graph.num_nodes(); ++node) {
    if (graph.degree(node) > 0 && !finder.seen(node)) starts.push_back(static_cast<Vertex>(finder.rim(node)));
  }
  return starts;
}

}  // namespace

std::vector<LocalId> locality_order(const PartSubgraph& graph) {
  const auto nodes = at(graph.num_nodes());
  const BoostGraph boost_graph(boost::edges_are_sorted, EdgeIterator(graph, 0),
                               EdgeIterator(graph, graph.offsets.back()), static_cast<Vertex>(nodes),
                               graph.neighbours.size());
  std::vector<Vertex> order(nodes);
  std::vector<boost::default_color_type> color(nodes);
  const auto end = boost::cuthill_mckee_ordering(
      boost_graph, find_starts(graph), order.begin(),
      boost::make_iterator_property_map(color.begin(), boost::get(boost::vertex_index, boost_graph)),
      boost::make_out_degree_map(boost_graph));
  std::vector<LocalId> result(order.begin(), end);
  for (LocalId node = 0; node < graph.num_nodes(); ++node) {
    if (graph.degree(node) == 0) result.push_back(node);
  }
  return result;
}

}  // namespace halo::partition
