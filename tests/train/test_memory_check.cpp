#include <doctest/doctest.h>

#include <string>

#include "halo/base/error.hpp"
#include "halo/train/memory_check.hpp"

namespace train = halo::train;
using doctest::Contains;
using halo::InputError;

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

train::MemoryNeed need(const std::string& host, std::int64_t features, std::int64_t free) {
  return {.host = host,
          .resident = 10 * kMiB,
          .free = {{"the machine", free}},
          .purposes = {{"program and MPI", 10 * kMiB}, {"features", features}}};
}

}  // namespace

TEST_CASE("a rank that needs more than the limit is refused with its purposes and a number of ranks") {
  const std::vector<train::MemoryNeed> needs = {need("a", 90 * kMiB, 1000 * kMiB),
                                                need("a", 190 * kMiB, 1000 * kMiB)};
  CHECK_NOTHROW(train::check_fits(needs, 200 * kMiB, 8));
  CHECK_NOTHROW(train::check_fits(needs, 0, 8));
  CHECK_THROWS_WITH_AS(train::check_fits(needs, 199 * kMiB, 8), Contains("rank 1 needs 200 MiB"), InputError);
  CHECK_THROWS_WITH_AS(train::check_fits(needs, 199 * kMiB, 8), Contains("features 190 MiB"), InputError);
  // 2 x 190 MiB in pieces of 90 MiB beside the program: five ranks.
  CHECK_THROWS_WITH_AS(train::check_fits(needs, 100 * kMiB, 8), Contains("about 5 ranks"), InputError);
  CHECK_THROWS_WITH_AS(train::check_fits(needs, 100 * kMiB, 4), Contains("4 parts serve no more"),
                       InputError);
  CHECK_THROWS_WITH_AS(train::check_fits(needs, 5 * kMiB, 8), Contains("the program alone"), InputError);
}

TEST_CASE("ranks of one host share what it has free, less what they hold already") {
  // Two ranks lack 90 MiB each.
  CHECK_NOTHROW(
      train::check_fits({need("a", 90 * kMiB, 180 * kMiB), need("a", 90 * kMiB, 180 * kMiB)}, 0, 8));
  const std::vector<train::MemoryNeed> crowded = {need("a", 90 * kMiB, 179 * kMiB),
                                                  need("a", 90 * kMiB, 179 * kMiB)};
  CHECK_THROWS_WITH_AS(train::check_fits(crowded, 0, 8), Contains("host a, the machine"), InputError);
  CHECK_THROWS_WITH_AS(train::check_fits(crowded, 0, 8), Contains("2 ranks there need 180 MiB"), InputError);
  CHECK_NOTHROW(
      train::check_fits({need("a", 90 * kMiB, 100 * kMiB), need("b", 90 * kMiB, 100 * kMiB)}, 0, 8));
}

TEST_CASE("every bound counts on its own") {
  train::MemoryNeed first = need("a", 90 * kMiB, 1000 * kMiB);
  train::MemoryNeed second = first;
  first.free.push_back({"control group /task_0", 95 * kMiB});
  second.free.push_back({"control group /task_1", 85 * kMiB});
  CHECK_THROWS_WITH_AS(train::check_fits({first, second}, 0, 8), Contains("/task_1"), InputError);
  second.free.back().bytes = 95 * kMiB;
  CHECK_NOTHROW(train::check_fits({first, second}, 0, 8));
}
