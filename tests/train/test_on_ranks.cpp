#include <doctest/doctest.h>

#include "halo/train/placement.hpp"
#include "support/mpi_world.hpp"

namespace train = halo::train;
using halo::testing::world;

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
