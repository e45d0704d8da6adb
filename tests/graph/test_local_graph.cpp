#include <doctest/doctest.h>

#include "halo/graph/csr.hpp"
#include "halo/graph/local_graph.hpp"

namespace graph = halo::graph;
using halo::NodeId;
using Ids = std::vector<NodeId>;

TEST_CASE("a whole graph: degrees, loops to add, tiles and groups") {
  const graph::Csr csr =
      graph::build_in_edges(5, Ids{0, 2, 1, 2}, Ids{1, 1, 0, 2}, std::vector<float>{0.5F, 1.0F, 2.0F, 4.0F});
  const graph::LocalGraph local = graph::whole_graph(csr, 2, 2);
  CHECK(local.owned == 5);
  CHECK(!local.symmetric);
  CHECK(local.out().columns == std::vector<halo::LocalId>{1, 0, 1, 2});
  CHECK(local.in_degree == std::vector<double>{2.0, 1.5, 4.0, 0.0, 0.0});
  CHECK(local.loop_to_add == std::vector<float>{1.0F, 1.0F, 0.0F, 1.0F, 1.0F});
  REQUIRE(local.tiles.size() == 3);
  CHECK(local.tiles[2].rows == halo::RowRange{4, 5});
  REQUIRE(local.groups.size() == 2);
  CHECK(local.groups[1].first_tile == 2);
  CHECK(local.groups[1].last_tile == 3);
  CHECK(local.groups[0].interior_in);
}

TEST_CASE("a group with a halo column is not interior, per direction") {
  graph::LocalGraph local;
  local.owned = 2;
  local.symmetric = false;
  local.in = {.indptr = {0, 1, 1}, .columns = {1}, .weights = {}, .halo = 0};
  local.out_if_directed = {.indptr = {0, 0, 1}, .columns = {2}, .weights = {}, .halo = 1};
  local.tiles = {{.rows = {0, 1}}, {.rows = {1, 2}}};
  local.groups = {{.first_tile = 0, .last_tile = 1}, {.first_tile = 1, .last_tile = 2}};
  graph::mark_interior_groups(local);
  CHECK(local.groups[0].interior_in);
  CHECK(local.groups[0].interior_out);
  CHECK(local.groups[1].interior_in);
  CHECK(!local.groups[1].interior_out);
}

TEST_CASE("an empty graph has no tiles") {
  const graph::LocalGraph local = graph::whole_graph(graph::Csr{}, 4, 4);
  CHECK(local.owned == 0);
  CHECK(local.tiles.empty());
  CHECK(local.groups.empty());
}
