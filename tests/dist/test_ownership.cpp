#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "halo/base/counter_rng.hpp"
#include "halo/base/error.hpp"
#include "halo/dist/ownership.hpp"

using halo::NodeId;
using halo::dist::assign_parts;
using halo::dist::Ownership;

namespace {

std::int64_t largest_work(const Ownership& ownership, const std::vector<std::int64_t>& work) {
  std::int64_t largest = 0;
  for (int rank = 0; rank < ownership.ranks(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    largest = std::max(largest, std::accumulate(work.begin() + ownership.first_part[r],
                                                work.begin() + ownership.first_part[r + 1], std::int64_t{0}));
  }
  return largest;
}

/// Smallest possible largest work of parts [first, K) in `ranks` non-empty runs, by trying every cut.
std::int64_t best_by_trying(const std::vector<std::int64_t>& work, std::size_t first, int ranks) {
  if (ranks == 1)
    return std::accumulate(work.begin() + static_cast<std::ptrdiff_t>(first), work.end(), std::int64_t{0});
  std::int64_t best = std::int64_t{1} << 60;
  std::int64_t run = 0;
  for (std::size_t cut = first; cut + static_cast<std::size_t>(ranks) <= work.size(); ++cut) {
    run += work[cut];
    best = std::min(best, std::max(run, best_by_trying(work, cut + 1, ranks - 1)));
  }
  return best;
}

}  // namespace

TEST_CASE("parts are cut where the largest run is smallest") {
  const std::vector<NodeId> offsets = {0, 10, 20, 30, 40};
  const Ownership ownership = assign_parts(offsets, std::vector<std::int64_t>{7, 1, 1, 7}, 2);
  CHECK(ownership.first_part == std::vector<halo::PartId>{0, 2, 4});
  CHECK(ownership.first_node == std::vector<NodeId>{0, 20, 40});
  CHECK(ownership.nodes_of(1) == halo::RowRange{20, 40});
}

TEST_CASE("the bottleneck is that of trying every cut; every rank has a part; the runs cover all parts") {
  halo::RandomStream random(5);
  for (int round = 0; round < 200; ++round) {
    const auto parts = 1 + random.below(9);
    std::vector<std::int64_t> work(parts);
    for (auto& w : work) w = static_cast<std::int64_t>(random.below(round % 2 == 0 ? 4 : 1000));
    std::vector<NodeId> offsets{0};
    for (std::size_t k = 0; k < parts; ++k)
      offsets.push_back(offsets.back() + static_cast<NodeId>(random.below(5)));
    const int ranks = 1 + static_cast<int>(random.below(parts));
    const Ownership ownership = assign_parts(offsets, work, ranks);
    REQUIRE(ownership.ranks() == ranks);
    CHECK(ownership.first_part.front() == 0);
    CHECK(ownership.first_part.back() == static_cast<halo::PartId>(parts));
    for (std::size_t r = 0; r + 1 < ownership.first_part.size(); ++r) {
      CHECK(ownership.first_part[r] < ownership.first_part[r + 1]);
      CHECK(ownership.first_node[r] == offsets[static_cast<std::size_t>(ownership.first_part[r])]);
    }
    CHECK(largest_work(ownership, work) == best_by_trying(work, 0, ranks));
    for (NodeId node = 0; node < offsets.back(); ++node) {
      const halo::RowRange nodes = ownership.nodes_of(ownership.owner_of(node));
      CHECK((nodes.begin <= node && node < nodes.end));
    }
  }
}

TEST_CASE("a rank without nodes owns none, wherever it stands") {
  const Ownership ownership = {.first_part = {0, 1, 2, 3, 4}, .first_node = {0, 0, 5, 5, 9}};
  CHECK(ownership.owner_of(0) == 1);
  CHECK(ownership.owner_of(4) == 1);
  CHECK(ownership.owner_of(5) == 3);
  CHECK(ownership.owner_of(8) == 3);
}

TEST_CASE("more ranks than parts are refused with the largest number that works") {
  try {
    assign_parts(std::vector<NodeId>{0, 1, 2}, std::vector<std::int64_t>{1, 1}, 3);
    FAIL("nothing was thrown");
  } catch (const halo::InputError& error) {
    CHECK(std::string(error.what()).find("at most 2 ranks") != std::string::npos);
  }
}
