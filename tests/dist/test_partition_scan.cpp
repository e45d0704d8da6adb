// What a scan of the files counts for any rank is what that rank counts when it has loaded its share.

#include <doctest/doctest.h>

#include "dist/shared_folder.hpp"
#include "halo/base/error.hpp"
#include "halo/dist/partition_scan.hpp"
#include "halo/dist/row_levels.hpp"
#include "halo/dist/share_counts.hpp"
#include "halo/dist/training_subgraph.hpp"
#include "support/mpi_world.hpp"
#include "support/small_graphs.hpp"
#include "support/small_partition.hpp"

using halo::at;
using halo::dist::PartitionScan;
using halo::graph::ShareCounts;
using halo::testing::world;

namespace {

ShareCounts count_loaded(const std::filesystem::path& folder, PartitionScan::Training training) {
  halo::dist::LocalPartition local = halo::dist::load_partition(world(), folder);
  halo::graph::LocalGraph subgraph;
  if (training.inductive) subgraph = halo::dist::training_subgraph(world(), local);
  halo::graph::LocalGraph& graph = training.inductive ? subgraph : local.graph;
  std::vector<std::uint8_t> starts;
  for (const std::uint8_t split : local.split) starts.push_back(split == 1 ? 1 : 0);
  if (training.levels) halo::dist::mark_row_levels(world(), local, starts, graph);
  return halo::dist::count_share(local, graph);
}

void check_counts(const halo::testing::SmallPartition& whole, PartitionScan::Training training) {
  const halo::testing::SharedFolder folder;
  if (world().rank() == 0) halo::testing::write_small_partition(folder.path(), whole);
  world().barrier();
  const ShareCounts loaded = count_loaded(folder.path(), training);
  const ShareCounts scanned =
      PartitionScan(folder.path(), training).count_shares(world().size())[at(world().rank())];
  CHECK(scanned.owned == loaded.owned);
  CHECK(scanned.tiles == loaded.tiles);
  CHECK(scanned.in == loaded.in);
  CHECK(scanned.out == loaded.out);
  CHECK(scanned == loaded);
}

}  // namespace

TEST_CASE("a scan counts rows, edges, halo rows and rows sent of every rank by level") {
  for (const auto& [name, in_edges] : halo::testing::small_graphs()) {
    CAPTURE(name);
    check_counts(halo::testing::make_small_partition(in_edges, world().size() + 1), {});
  }
  for (const bool symmetric : {true, false}) {
    const auto graph = halo::testing::random_graph(150, 0.02, symmetric, 7);
    const auto whole = halo::testing::make_small_partition(graph, 2 * world().size());
    check_counts(whole, {.levels = true, .inductive = false});
    check_counts(whole, {.levels = true, .inductive = true});
    check_counts(whole, {.levels = false, .inductive = false});
  }
}

TEST_CASE("a scan refuses more ranks than parts, and a neighbour that does not exist") {
  const halo::testing::SharedFolder folder;
  auto whole = halo::testing::make_small_partition(halo::testing::star(20), 2);
  if (world().rank() == 0) halo::testing::write_small_partition(folder.path(), whole);
  world().barrier();
  CHECK_THROWS_AS(PartitionScan(folder.path(), {}).count_shares(3), halo::InputError);
  const halo::testing::SharedFolder spoilt;
  whole.in.indices.back() = 20;
  if (world().rank() == 0) halo::testing::write_small_partition(spoilt.path() / "x", whole);
  world().barrier();
  CHECK_THROWS_WITH_AS(PartitionScan(spoilt.path() / "x", {}), doctest::Contains("indices.npy"),
                       halo::InputError);
}
