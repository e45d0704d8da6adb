#include <doctest/doctest.h>

#include <algorithm>

#include "dist/shared_folder.hpp"
#include "halo/dist/row_levels.hpp"
#include "halo/graph/row_levels.hpp"
#include "support/mpi_world.hpp"
#include "support/small_graphs.hpp"
#include "support/small_partition.hpp"

using halo::at;
using halo::NodeId;
using halo::graph::kLastLevel;
using halo::testing::world;

namespace {

/// By node id, on the whole graph: every edge is looked at as often as there are levels.
std::vector<std::uint8_t> slow_levels(const halo::testing::SmallPartition& whole, std::int64_t every) {
  std::vector<std::uint8_t> level(at(whole.in.num_nodes()), kLastLevel);
  for (std::size_t i = 0; i < level.size(); ++i) {
    if (static_cast<std::int64_t>(i) % every == 0) level[i] = 0;
  }
  const auto whole_tiles = [&] {
    for (std::size_t t = 0; t + 1 < whole.tile_offsets.size(); ++t) {
      const auto begin = level.begin() + whole.tile_offsets[t],
                 end = level.begin() + whole.tile_offsets[t + 1];
      if (begin != end) std::fill(begin, end, *std::min_element(begin, end));
    }
  };
  whole_tiles();
  for (std::uint8_t next = 1; next < kLastLevel; ++next) {
    for (NodeId i = 0; i < whole.in.num_nodes(); ++i) {
      if (level[at(i)] >= next) continue;
      for (const NodeId j : whole.in.neighbours(i)) level[at(j)] = std::min(level[at(j)], next);
    }
    whole_tiles();
  }
  return level;
}

void check_levels(const halo::testing::SmallPartition& whole, std::int64_t every) {
  const halo::testing::SharedFolder folder;
  if (world().rank() == 0) halo::testing::write_small_partition(folder.path(), whole);
  world().barrier();
  halo::dist::LocalPartition local = halo::dist::load_partition(world(), folder.path());
  std::vector<std::uint8_t> starts;
  for (NodeId i = 0; i < local.graph.owned; ++i)
    starts.push_back((local.graph.first_node + i) % every == 0 ? 1 : 0);
  halo::dist::mark_row_levels(world(), local, starts, local.graph);
  CHECK(local.graph.has_levels);  // on a rank without nodes too
  const auto expected = slow_levels(whole, every);
  for (NodeId i = 0; i < local.graph.owned; ++i)
    CHECK(local.graph.level[at(i)] == expected[at(local.graph.first_node + i)]);
  const halo::graph::LocalGraph& graph = local.graph;
  for (const auto* edges : {&graph.in, &graph.out()}) {
    REQUIRE(std::ssize(edges->halo_level) == edges->halo);
    for (std::size_t k = 0; k < edges->halo_level.size(); ++k) {
      const NodeId id = whole.in.num_nodes() - 1 - edges->halo_original_id[k];
      CHECK(edges->halo_level[k] == expected[at(id)]);
    }
  }
  for (const auto& tile : local.graph.tiles) CHECK(tile.level == local.graph.level[at(tile.rows.begin)]);
}

}  // namespace

TEST_CASE("levels are those of the whole graph, of owned and halo nodes, whoever owns them") {
  for (const auto& [name, in_edges] : halo::testing::small_graphs()) {
    INFO(name);
    const auto whole = halo::testing::make_small_partition(in_edges, 5);
    for (const std::int64_t every : {1, 5, 13, 1000}) check_levels(whole, every);
  }
}
