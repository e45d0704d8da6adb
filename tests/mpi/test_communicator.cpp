#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <new>
#include <stdexcept>

#include "halo/base/cpu.hpp"
#include "halo/mpi/communicator.hpp"
#include "support/mpi_world.hpp"

using halo::testing::world;

TEST_CASE("ranks of this host are all ranks, numbered alike") {
  CHECK(world().local_rank() == world().rank());
  CHECK(world().local_size() == world().size());
  CHECK_FALSE(halo::mpi::library_version().empty());
}

TEST_CASE("sums and maxima over ranks") {
  const std::int64_t r = world().rank();
  const std::int64_t n = world().size();
  std::array<std::int64_t, 3> integers = {r, -r, std::int64_t{1} << 40};
  world().sum(integers);
  CHECK(integers == std::array<std::int64_t, 3>{n * (n - 1) / 2, -n * (n - 1) / 2, n << 40});
  std::array<double, 2> reals = {0.5, static_cast<double>(r)};
  world().sum(reals);
  CHECK(reals[0] == 0.5 * static_cast<double>(n));
  CHECK(reals[1] == static_cast<double>(n * (n - 1) / 2));

  std::array<std::int64_t, 2> largest = {r, -r};
  world().max(largest);
  CHECK(largest == std::array<std::int64_t, 2>{n - 1, 0});
  std::array<double, 2> largest_reals = {static_cast<double>(r), static_cast<double>(-r)};
  world().max(largest_reals);
  CHECK(largest_reals == std::array<double, 2>{static_cast<double>(n - 1), 0.0});
  world().sum(std::span<std::int64_t>{});
}

TEST_CASE("broadcast from every root, texts of any length") {
  for (halo::Rank root = 0; root < world().size(); ++root) {
    CHECK(world().broadcast(fmt::format("from {}", world().rank()), root) == fmt::format("from {}", root));
    CHECK(world().broadcast(world().rank() == root ? "" : "something", root).empty());
    std::array<std::byte, 3> bytes{};
    bytes.fill(static_cast<std::byte>(world().rank()));
    world().broadcast(bytes, root);
    CHECK(bytes[2] == static_cast<std::byte>(root));
  }
}

TEST_CASE("gather texts of unequal length at every root") {
  const std::string mine(static_cast<std::size_t>(world().rank()), 'x');  // empty on rank 0
  for (halo::Rank root = 0; root < world().size(); ++root) {
    const auto texts = world().gather(mine, root);
    if (world().rank() != root) {
      CHECK(texts.empty());
      continue;
    }
    REQUIRE(texts.size() == static_cast<std::size_t>(world().size()));
    for (std::size_t r = 0; r < texts.size(); ++r) CHECK(texts[r] == std::string(r, 'x'));
  }
  const auto values = world().all_gather(10 + world().rank());
  REQUIRE(values.size() == static_cast<std::size_t>(world().size()));
  for (std::size_t r = 0; r < values.size(); ++r) CHECK(values[r] == 10 + static_cast<std::int64_t>(r));
}

namespace {

/// What agree() throws on this rank: kind and text; kind "" if nothing.
struct Thrown {
  std::string kind;
  std::string text;
};

template <typename Work>
Thrown thrown_by_agree(Work work) {
  try {
    world().agree(work);
  } catch (const halo::InputError& error) {
    CHECK(halo::mpi::is_agreed(error));
    return {"input", error.what()};
  } catch (const halo::Error& error) {
    CHECK(halo::mpi::is_agreed(error));
    return {"error", error.what()};
  }
  return {};
}

std::string heading(halo::Rank rank) {
  return world().size() == 1 ? "" : fmt::format("rank {} on host {}: ", rank, halo::host_name());
}

}  // namespace

TEST_CASE("agree passes where nothing fails") {
  int calls = 0;
  CHECK(thrown_by_agree([&] { ++calls; }).kind.empty());
  CHECK(calls == 1);
}

TEST_CASE("agree throws the error of the failing rank on all ranks, whichever it is") {
  for (halo::Rank bad = 0; bad < world().size(); ++bad) {
    const Thrown input = thrown_by_agree([&] {
      if (world().rank() == bad) throw halo::InputError("bad file");
    });
    CHECK(input.kind == "input");
    CHECK(input.text == heading(bad) + "bad file");
    const Thrown other = thrown_by_agree([&] {
      if (world().rank() == bad) throw std::runtime_error("lost");
    });
    CHECK(other.kind == "error");
    CHECK(other.text == heading(bad) + "lost");
    const Thrown memory = thrown_by_agree([&] {
      if (world().rank() == bad) throw std::bad_alloc();
    });
    CHECK(memory.text == heading(bad) + "out of memory");
  }
}

TEST_CASE("where several ranks fail, the lowest speaks") {
  const Thrown thrown = thrown_by_agree([&] { throw halo::Error(fmt::format("error {}", world().rank())); });
  CHECK(thrown.kind == "error");
  CHECK(thrown.text == heading(0) + "error 0");
}

TEST_CASE("agree within agree reports once") {
  const halo::Rank bad = world().size() - 1;
  const Thrown thrown = thrown_by_agree([&] {
    world().agree([&] {
      if (world().rank() == bad) throw halo::InputError("deep");
    });
  });
  CHECK(thrown.kind == "input");
  CHECK(thrown.text == heading(bad) + "deep");
}

TEST_CASE("a call that MPI refuses becomes an MpiError with its name, the rank and MPI's text") {
  std::array<std::byte, 1> byte{};
  try {
    world().broadcast(byte, world().size());  // no such root
    FAIL_CHECK("nothing was thrown");
  } catch (const halo::mpi::MpiError& error) {
    const std::string text = error.what();
    CHECK(text.find("MPI_Ibcast failed on rank " + std::to_string(world().rank())) == 0);
    CHECK(text.find("root") != std::string::npos);
    CHECK_FALSE(halo::mpi::is_agreed(error));
  }
}

TEST_CASE("a moved communicator works on") {
  halo::mpi::Communicator first = halo::mpi::Communicator::world();
  const halo::mpi::Communicator second = std::move(first);
  std::array<std::int64_t, 1> one = {1};
  second.sum(one);
  CHECK(one[0] == world().size());
}
