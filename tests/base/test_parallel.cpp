#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "halo/base/checked_cast.hpp"
#include "halo/base/cpu.hpp"
#include "halo/base/error.hpp"
#include "halo/base/parallel.hpp"

using halo::parallel_for;

TEST_CASE("each index runs once, on any number of threads") {
  for (const int threads : {1, 2, 5}) {
    for (const std::int64_t count : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
      std::atomic<bool> thread_in_range = true;
      parallel_for(count, threads, [&](std::int64_t index, int thread) {
        ++runs[static_cast<std::size_t>(index)];
        if (thread < 0 || thread >= threads) thread_in_range = false;
      });
      for (const auto& run : runs) CHECK(run == 1);
      CHECK(thread_in_range);
    }
  }
}

TEST_CASE("the callback between indices is called by the caller alone") {
  std::int64_t calls = 0;
  std::int64_t by_caller = 0;
  parallel_for(
      100, 2, [&](std::int64_t, int thread) { by_caller += thread == 0 ? 1 : 0; }, [&] { ++calls; });
  CHECK(calls == by_caller);
}

TEST_CASE("an exception of a body reaches the caller") {
  for (const int threads : {1, 2}) {
    CHECK_THROWS_AS(parallel_for(50, threads,
                                 [](std::int64_t index, int) {
                                   if (index == 7) throw std::out_of_range("seven");
                                 }),
                    std::out_of_range);
  }
}

TEST_CASE("checked casts name what did not fit") {
  CHECK(halo::checked_cast<std::int32_t>(std::int64_t{5}, "five") == 5);
  CHECK_THROWS_WITH_AS(halo::checked_cast<std::int32_t>(std::int64_t{1} << 40, "rows"),
                       "rows = 1099511627776 does not fit into 32 bits", halo::Error);
  CHECK_THROWS_AS(halo::checked_cast<std::uint8_t>(-1, "byte"), halo::Error);
}

TEST_CASE("input errors carry all parts of the message and status 2") {
  const halo::InputError error({.what = "labels.npy has the wrong length",
                                .where = "labels.npy",
                                .found = "3",
                                .expected = "4",
                                .next = "write one label per node"});
  const std::string text = error.what();
  for (const char* part : {"wrong length", "where:", "found:    3", "expected: 4", "next:"}) {
    CHECK(text.find(part) != std::string::npos);
  }
  CHECK(halo::exit_status_of(error) == halo::ExitStatus::kBadInput);
  CHECK(halo::exit_status_of(std::bad_alloc()) == halo::ExitStatus::kFailure);
}

TEST_CASE("the process knows its cpus and its memory") {
  CHECK(!halo::usable_cpus().empty());
  CHECK(halo::peak_resident_bytes() > 1000000);
  CHECK(!halo::host_name().empty());
}
