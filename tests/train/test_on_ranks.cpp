#include <doctest/doctest.h>

#include <filesystem>
#include <vector>

#include "dist/shared_folder.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/train/placement.hpp"
#include "halo/train/run_folder.hpp"
#include "support/mpi_world.hpp"

namespace train = halo::train;
using halo::NodeId;
using halo::testing::world;

TEST_CASE("predictions land in the user's order, whatever rank owns a node") {
  const halo::testing::SharedFolder folder;
  for (const NodeId nodes : {NodeId{0}, NodeId{1}, NodeId{2}, NodeId{3}, NodeId{97}}) {
    CAPTURE(nodes);
    // Node with original id k belongs to rank (5 k + 3) mod P: in no rank's block order, and some ranks own
    // nothing.
    std::vector<NodeId> ids;
    std::vector<std::int32_t> values;
    for (NodeId k = nodes - 1; k >= 0; --k) {
      if ((5 * k + 3) % world().size() != world().rank()) continue;
      ids.push_back(k);
      values.push_back(static_cast<std::int32_t>(k * k % 1000));
    }
    const auto path = folder.path() / ("predictions_" + std::to_string(nodes) + ".npy");
    train::write_predictions(world(), path, nodes, ids, values);
    const auto written = halo::datasets::read_npy<std::int32_t>(path);
    REQUIRE(static_cast<NodeId>(written.size()) == nodes);
    for (NodeId k = 0; k < nodes; ++k) CHECK(written[static_cast<std::size_t>(k)] == k * k % 1000);
    CHECK(!std::filesystem::exists(path.string() + ".tmp"));
  }
}

TEST_CASE("a folder that cannot be written to is the same error on every rank") {
  const std::vector<NodeId> ids = world().rank() == 0 ? std::vector<NodeId>{0} : std::vector<NodeId>{};
  const std::vector<std::int32_t> values(ids.size(), 1);
  CHECK_THROWS_AS(train::write_predictions(world(), "/nonexistent/predictions.npy", 1, ids, values),
                  halo::Error);
}

TEST_CASE("ranks that share their cores share them fairly, and a wish counts") {
  const auto fair = train::place_ranks(world(), 0);
  REQUIRE(static_cast<int>(fair.size()) == world().size());
  for (const train::RankPlacement& rank : fair) {
    CHECK(rank.threads >= 1);
    CHECK(rank.threads <= static_cast<int>(rank.cpus.size()));
    CHECK(!rank.host.empty());
    CHECK(rank.pid > 0);
  }
  for (const train::RankPlacement& rank : train::place_ranks(world(), 3)) CHECK(rank.threads == 3);
}
