#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "halo/graph/row_levels.hpp"
#include "halo/partition/locality_order.hpp"
#include "halo/partition/node_order.hpp"
#include "halo/partition/part_order.hpp"
#include "halo/partition/tiles.hpp"
#include "partition/small_graphs.hpp"

using namespace halo;
using namespace halo::partition;

namespace {

PartSubgraph subgraph_of(const EdgeList& edges) {
  const graph::Csr graph = edges.csr();
  PartSubgraph result;
  result.offsets = graph.indptr;
  for (const NodeId j : graph.indices) result.neighbours.push_back(static_cast<LocalId>(j));
  return result;
}

/// Largest distance of two neighbours in an order.
std::int64_t bandwidth(const PartSubgraph& graph, const std::vector<LocalId>& order) {
  std::vector<std::int64_t> position(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    position[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  std::int64_t widest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (EdgeId e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
      const auto j = static_cast<std::size_t>(graph.neighbours[static_cast<std::size_t>(e)]);
      widest = std::max(widest, std::abs(position[i] - position[j]));
    }
  }
  return widest;
}

}  // namespace

TEST_CASE("a shuffled path comes out end to end") {
  // 3 - 0 - 4 - 1 - 2, and 5 alone, and 6 - 7.
  EdgeList edges{.nodes = 8};
  edges.add_both(3, 0);
  edges.add_both(0, 4);
  edges.add_both(4, 1);
  edges.add_both(1, 2);
  edges.add_both(6, 7);
  const auto order = locality_order(subgraph_of(edges));
  REQUIRE(order.size() == 8);
  const std::vector<LocalId> path(order.begin(), order.begin() + 5);
  const std::vector<LocalId> forward{3, 0, 4, 1, 2};
  const std::vector<LocalId> backward(forward.rbegin(), forward.rend());
  CHECK((path == forward || path == backward));
  CHECK(std::min(order[5], order[6]) == 6);
  CHECK(std::max(order[5], order[6]) == 7);
  CHECK(order[7] == 5);
}

TEST_CASE("the order of a shuffled grid has nearly the bandwidth of its short side") {
  EdgeList shuffled = grid(6, 50);
  RandomStream random(17);
  std::vector<NodeId> label(300);
  std::iota(label.begin(), label.end(), NodeId{0});
  for (std::size_t i = 299; i > 0; --i) std::swap(label[i], label[random.below(i + 1)]);
  for (NodeId& node : shuffled.sources) node = label[static_cast<std::size_t>(node)];
  for (NodeId& node : shuffled.targets) node = label[static_cast<std::size_t>(node)];
  const PartSubgraph graph = subgraph_of(shuffled);
  std::vector<LocalId> identity(300);
  std::iota(identity.begin(), identity.end(), 0);
  CHECK(bandwidth(graph, locality_order(graph)) <= 12);
  CHECK(bandwidth(graph, identity) > 100);
}

TEST_CASE("graphs without edges or nodes are ordered by number") {
  CHECK(locality_order(PartSubgraph{}).empty());
  CHECK(locality_order(subgraph_of(EdgeList{.nodes = 3})) == std::vector<LocalId>{0, 1, 2});
}

TEST_CASE("many components take linear time") {
  // Quadratic work would be 4e10 steps here.
  EdgeList pairs{.nodes = 400000};
  for (NodeId i = 0; i < pairs.nodes; i += 2) pairs.add_both(i, i + 1);
  CHECK(locality_order(subgraph_of(pairs)).size() == 400000);
}

TEST_CASE("the quotient graph counts the edges between parts") {
  // A path 0 1 2 3 4 with parts 0 0 1 2 0: one edge each of 0-1, 1-2, 2-0.
  const QuotientGraph quotient = make_quotient(grid(5, 1).csr(), std::vector<PartId>{0, 0, 1, 2, 0}, 3);
  CHECK(quotient.offsets == std::vector<EdgeId>{0, 2, 4, 6});
  CHECK(quotient.neighbours == std::vector<PartId>{1, 2, 0, 2, 0, 1});
  CHECK(quotient.edges == std::vector<EdgeId>{1, 1, 1, 1, 1, 1});
  CHECK(make_quotient(grid(5, 1).csr(), std::vector<PartId>(5, 0), 1).offsets == std::vector<EdgeId>{0, 0});
}

TEST_CASE("parts along a line are numbered along the line") {
  // Part p's place on the line is place[p]; neighbours on the line share 100 edges.
  const std::vector<PartId> place{5, 2, 7, 0, 3, 6, 1, 4};
  std::vector<PartId> part_at(8);
  for (std::size_t p = 0; p < 8; ++p) part_at[static_cast<std::size_t>(place[p])] = static_cast<PartId>(p);
  QuotientGraph quotient;
  for (std::size_t p = 0; p < 8; ++p) {
    const auto x = static_cast<std::size_t>(place[p]);
    std::vector<PartId> row;
    if (x > 0) row.push_back(part_at[x - 1]);
    if (x < 7) row.push_back(part_at[x + 1]);
    std::ranges::sort(row);
    quotient.neighbours.insert(quotient.neighbours.end(), row.begin(), row.end());
    quotient.edges.resize(quotient.neighbours.size(), 100);
    quotient.offsets.push_back(std::ssize(quotient.neighbours));
  }
  const std::vector<PartId> number = order_parts(quotient, 0);
  const bool forward = number[static_cast<std::size_t>(part_at[0])] == 0;
  for (std::size_t p = 0; p < 8; ++p) CHECK(number[p] == (forward ? place[p] : 7 - place[p]));
}

TEST_CASE("orders of parts are permutations for any number of parts, edges between them or not") {
  for (const PartId parts : {1, 2, 3, 4, 5, 17, 100}) {
    for (const std::int64_t edges : {0, 30, 400}) {
      const graph::Csr graph = graph::symmetric_loop_free(
          random_graph({.nodes = parts, .edges = edges}, static_cast<std::uint64_t>(parts)).csr());
      std::vector<PartId> own(static_cast<std::size_t>(parts));
      std::iota(own.begin(), own.end(), 0);
      std::vector<PartId> number = order_parts(make_quotient(graph, own, parts), 3);
      std::ranges::sort(number);
      CHECK(number == own);
    }
  }
}

TEST_CASE("interior rows stand before boundary rows, by hand") {
  // Path 0 .. 7, parts {0 1 2 3} and {4 5 6 7}: only 3 and 4 touch the other part.
  const NodeOrder order = order_nodes(grid(8, 1).csr(), std::vector<PartId>{0, 0, 0, 0, 1, 1, 1, 1}, 2,
                                      std::vector<std::uint8_t>(8, 3), 1);
  CHECK(order.part_offsets == std::vector<NodeId>{0, 4, 8});
  CHECK(order.boundary_begin == std::vector<NodeId>{3, 7});
  CHECK(order.original_id[3] == 3);
  CHECK(order.original_id[7] == 4);
  const auto new_id = order.new_ids();
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(order.original_id[static_cast<std::size_t>(new_id[i])] == static_cast<NodeId>(i));
}

TEST_CASE("rows of one level stand together within interior and boundary, by hand") {
  // The same path and parts, trained on 1 and 4: levels 1 0 1 2 | 0 1 2 3 in order of the in-edges 1 -> 0 ...
  const graph::Csr path = grid(8, 1).csr();
  std::vector<std::uint8_t> train(8, 0);
  train[1] = train[4] = 1;
  const std::vector<std::uint8_t> level = graph::find_levels(path, train);
  CHECK(level == std::vector<std::uint8_t>{1, 0, 1, 1, 0, 1, 2, 3});
  const NodeOrder order = order_nodes(path, std::vector<PartId>{0, 0, 0, 0, 1, 1, 1, 1}, 2, level, 1);
  CHECK(order.original_id[0] == 1);
  CHECK(order.original_id[3] == 3);  // boundary
  CHECK(order.original_id[4] == 5);
  CHECK(order.original_id[5] == 6);
  CHECK(order.original_id[6] == 7);
  CHECK(order.original_id[7] == 4);  // boundary
  CHECK(order.level_begin == std::vector<NodeId>{0, 1, 3, 4, 5, 6, 7});
  const Tiles tiles = cut_tiles(order, 2, 2);
  CHECK(tiles.tile_offsets == std::vector<NodeId>{0, 1, 3, 4, 5, 6, 7, 8});
  CHECK(tiles.group_offsets == std::vector<std::int64_t>{0, 2, 3, 5, 6, 7});
}

TEST_CASE("tiles and groups stop at the ends of parts and of interiors") {
  //          part 0: interior 0-5, boundary 5-7 | part 1: boundary 7-9 | part 2: interior 9-13
  NodeOrder order;
  order.part_offsets = {0, 7, 9, 13};
  order.boundary_begin = {5, 7, 13};
  const Tiles tiles = cut_tiles(order, 2, 2);
  CHECK(tiles.tile_offsets == std::vector<NodeId>{0, 2, 4, 5, 7, 9, 11, 13});
  CHECK(tiles.group_offsets == std::vector<std::int64_t>{0, 2, 3, 4, 5, 7});
}
