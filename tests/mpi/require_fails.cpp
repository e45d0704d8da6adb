// Must fail, and soon: the reporter of mpi_main.cpp ends the job where a REQUIRE fails on one rank only.
#include <doctest/doctest.h>

#include "support/mpi_world.hpp"

TEST_CASE("one rank stops while the others wait for it") {
  if (halo::testing::world().size() < 2) return;  // passes, and so fails the test that expects a failure
  REQUIRE(halo::testing::world().rank() != 1);
  halo::testing::world().barrier();
}
