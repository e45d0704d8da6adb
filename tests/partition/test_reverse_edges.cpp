#include <doctest/doctest.h>

#include <algorithm>

#include "halo/base/error.hpp"
#include "halo/partition/reverse_edges.hpp"
#include "partition/small_graphs.hpp"

using namespace halo;
using namespace halo::partition;

TEST_CASE("missing reverse edges are added, loops and duplicates kept") {
  EdgeList edges{.nodes = 4};
  edges.add(0, 1);
  edges.add(0, 1);  // twice one way, once back: twice both ways
  edges.add(1, 0);
  edges.add(1, 2);
  edges.add(3, 3);
  const graph::Csr graph = add_reverse_edges(edges.csr());
  CHECK(graph.indptr == std::vector<EdgeId>{0, 2, 5, 6, 7});
  CHECK(graph.indices == std::vector<NodeId>{1, 1, 0, 0, 2, 1, 3});
  CHECK(graph::is_symmetric(graph));
}

TEST_CASE("a symmetric graph stays as it is") {
  const graph::Csr graph = random_graph({.nodes = 50, .edges = 200}, 3).csr();
  REQUIRE(graph::is_symmetric(graph));
  CHECK(add_reverse_edges(graph).indptr == graph.indptr);
  CHECK(add_reverse_edges(graph).indices == graph.indices);
}

TEST_CASE("random directed graphs become symmetric and lose no edge") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const graph::Csr graph = random_graph({.nodes = 30, .edges = 90, .directed = true}, seed).csr();
    const graph::Csr both = add_reverse_edges(graph);
    CHECK(graph::is_symmetric(both));
    CHECK(add_reverse_edges(both).indices == both.indices);
    CHECK(both.num_edges() <= 2 * graph.num_edges());
    for (NodeId i = 0; i < 30; ++i) CHECK(std::ranges::includes(both.neighbours(i), graph.neighbours(i)));
  }
}

TEST_CASE("weights come along; two directions that weigh differently are refused") {
  EdgeList edges{.nodes = 3};
  edges.add(0, 1);
  edges.add(1, 2);
  edges.add(2, 1);
  edges.weights = {0.5F, 2.0F, 2.0F};
  const graph::Csr graph = add_reverse_edges(edges.csr());
  CHECK(graph.indices == std::vector<NodeId>{1, 0, 2, 1});
  CHECK(graph.weights == std::vector<float>{0.5F, 0.5F, 2.0F, 2.0F});
  edges.weights[2] = 3.0F;
  CHECK_THROWS_AS(add_reverse_edges(edges.csr()), InputError);
}
