#include <doctest/doctest.h>

#include "dist/shared_folder.hpp"
#include "halo/dist/load_partition.hpp"
#include "halo/graph/csr.hpp"
#include "halo/mpi/communicator.hpp"
#include "support/mpi_world.hpp"
#include "support/small_graphs.hpp"
#include "support/small_partition.hpp"

using halo::NodeId;
using halo::dist::LocalPartition;
using halo::testing::SmallPartition;
using halo::testing::world;

namespace {

void check_adjacency(const halo::graph::Adjacency& found, const halo::graph::Adjacency& expected) {
  CHECK(found.indptr == expected.indptr);
  CHECK(found.columns == expected.columns);
  CHECK(found.weights == expected.weights);
  CHECK(found.halo == expected.halo);
  CHECK(found.halo_original_id == expected.halo_original_id);
}

void check_tiles(const halo::graph::LocalGraph& found, const halo::graph::LocalGraph& expected) {
  REQUIRE(found.tiles.size() == expected.tiles.size());
  for (std::size_t t = 0; t < found.tiles.size(); ++t) CHECK(found.tiles[t].rows == expected.tiles[t].rows);
  REQUIRE(found.groups.size() == expected.groups.size());
  for (std::size_t g = 0; g < found.groups.size(); ++g) {
    CHECK(found.groups[g].first_tile == expected.groups[g].first_tile);
    CHECK(found.groups[g].last_tile == expected.groups[g].last_tile);
    CHECK(found.groups[g].interior_in == expected.groups[g].interior_in);
    CHECK(found.groups[g].interior_out == expected.groups[g].interior_out);
  }
}

/// The part of the arrays that nodes [begin, end) own.
template <typename T>
std::vector<T> slice(const std::vector<T>& values, halo::RowRange rows, std::int64_t row_items = 1) {
  return {values.begin() + rows.begin * row_items, values.begin() + rows.end * row_items};
}

void check_share(const LocalPartition& local, const SmallPartition& whole) {
  const auto expected =
      halo::testing::share_of(whole.in, local.ownership, world().rank(), whole.part_offsets);
  const auto& graph = local.graph;
  CHECK(graph.global_nodes == whole.in.num_nodes());
  CHECK(graph.global_edges == whole.in.num_edges());
  CHECK(graph.first_node == expected.graph.first_node);
  CHECK(graph.owned == expected.graph.owned);
  CHECK(graph.symmetric == whole.symmetric);
  check_adjacency(graph.in, expected.graph.in);
  check_adjacency(graph.out(), expected.graph.out());
  check_tiles(graph, expected.graph);
  CHECK(graph.original_id == expected.graph.original_id);
  CHECK(graph.in_degree == expected.graph.in_degree);
  CHECK(graph.loop_to_add == expected.graph.loop_to_add);
  CHECK(local.in_plan.rows_received() == static_cast<std::int64_t>(expected.in_halo.size()));
  CHECK(local.out_plan.rows_received() == static_cast<std::int64_t>(expected.out_halo.size()));

  const halo::RowRange owned = local.ownership.nodes_of(world().rank());
  const auto features = local.features.span();
  CHECK(std::vector<float>(features.begin(), features.end()) ==
        slice(whole.features, owned, whole.feature_cols));
  CHECK(local.labels == (whole.labels.empty() ? whole.labels : slice(whole.labels, owned)));
  CHECK(local.multi_labels == (whole.multi_labels.empty()
                                   ? whole.multi_labels
                                   : slice(whole.multi_labels, owned, whole.num_classes)));
  CHECK(local.values ==
        (whole.values.empty() ? whole.values : slice(whole.values, owned, whole.num_classes)));
  CHECK(graph.active.empty());
  CHECK(graph.global_active == graph.global_nodes);
  CHECK(local.split == slice(whole.split, owned));
}

void round_trip(const SmallPartition& whole) {
  const halo::testing::SharedFolder folder;
  if (world().rank() == 0) halo::testing::write_small_partition(folder.path(), whole);
  world().barrier();
  const LocalPartition local = halo::dist::load_partition(world(), folder.path());
  CHECK(local.manifest.num_nodes == whole.in.num_nodes());
  CHECK(local.manifest.parts == static_cast<halo::PartId>(whole.part_offsets.size()) - 1);
  check_share(local, whole);
  std::vector<std::int64_t> totals = {local.graph.owned,
                                      static_cast<std::int64_t>(local.graph.in.columns.size()),
                                      static_cast<std::int64_t>(local.graph.groups.size())};
  world().sum(totals);
  CHECK(totals == std::vector<std::int64_t>{whole.in.num_nodes(), whole.in.num_edges(),
                                            static_cast<std::int64_t>(whole.group_offsets.size()) - 1});
}

}  // namespace

TEST_CASE("a partitioned dataset comes back whole on any number of ranks, one or several parts for each") {
  int parts = 5;
  for (const auto& [name, graph] : halo::testing::small_graphs()) {
    parts = 13 - parts;  // 8, 5, 8, ...
    INFO(name);
    INFO(parts);
    round_trip(halo::testing::make_small_partition(graph, parts));
  }
}

TEST_CASE("edge weights come along, in both directions") {
  for (const bool symmetric : {true, false}) {
    auto graph = halo::testing::random_graph(23, 0.2, symmetric, 4);
    for (NodeId target = 0; target < graph.num_nodes(); ++target) {
      for (const NodeId source : graph.neighbours(target)) {
        graph.weights.push_back(static_cast<float>(symmetric ? source + target : 30 * source + target) +
                                0.5F);
      }
    }
    round_trip(halo::testing::make_small_partition(graph, 6));
  }
}

TEST_CASE("a dataset without feature columns is loaded too") {
  auto whole = halo::testing::make_small_partition(halo::testing::star(9), 5);
  whole.feature_cols = 0;
  whole.features.clear();
  round_trip(whole);
}

TEST_CASE("several labels or targets for each node come along") {
  auto whole = halo::testing::make_small_partition(halo::testing::star(11), 5);
  whole.labels.clear();
  whole.task = halo::datasets::kMultiLabel;
  for (int i = 0; i < 44; ++i) whole.multi_labels.push_back(i % 3 == 0 ? 1 : 0);
  round_trip(whole);
  whole.task = halo::datasets::kNodeRegression;
  whole.multi_labels.clear();
  for (int i = 0; i < 44; ++i) whole.values.push_back(static_cast<float>(i) / 4.0F);
  round_trip(whole);
}

TEST_CASE("a rank has the held-out links whose first end it owns") {
  auto whole = halo::testing::make_small_partition(halo::testing::star(11), 5);
  whole.labels.clear();
  whole.task = halo::datasets::kLinkPrediction;
  for (std::size_t set = 0; set < 2; ++set) {
    whole.link_offsets[set] = {0};
    for (std::size_t part = 0; part < 5; ++part) {
      for (NodeId u = whole.part_offsets[part]; u < whole.part_offsets[part + 1] && set == 1; u += 2)
        whole.links[set].push_back({std::ssize(whole.links[set]), u, (u + 3) % 11, (u + 4) % 11, 0});
      whole.link_offsets[set].push_back(std::ssize(whole.links[set]));
    }
  }
  const halo::testing::SharedFolder folder;
  if (world().rank() == 0) halo::testing::write_small_partition(folder.path(), whole);
  world().barrier();
  const LocalPartition local = halo::dist::load_partition(world(), folder.path());
  check_share(local, whole);
  CHECK(local.val_links.size() == 0);
  CHECK(local.val_links.global_size == 0);
  CHECK(local.test_links.global_size == std::ssize(whole.links[1]));
  CHECK(local.test_links.negatives_each == 2);
  const halo::RowRange owned = local.ownership.nodes_of(world().rank());
  std::size_t next = 0;
  for (const auto& row : whole.links[1]) {
    if (row[1] < owned.begin || row[1] >= owned.end) continue;
    REQUIRE(next < local.test_links.sources.size());
    CHECK(local.test_links.position[next] == row[0]);
    CHECK(local.test_links.sources[next] == row[1]);
    CHECK(local.test_links.targets[next] == row[2]);
    CHECK(local.test_links.negatives[2 * next] == row[3]);
    CHECK(local.test_links.negatives[2 * next + 1] == row[4]);
    ++next;
  }
  CHECK(next == local.test_links.sources.size());
  CHECK(local.test_links.part_offsets.back() == local.test_links.size());
}
