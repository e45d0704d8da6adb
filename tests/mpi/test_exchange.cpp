#include <doctest/doctest.h>

#include <vector>

#include "halo/mpi/exchange.hpp"
#include "halo/mpi/row_exchange.hpp"
#include "support/mpi_world.hpp"

using halo::Rank;
using halo::mpi::RowExchange;
using halo::testing::world;

TEST_CASE("all_to_all: rank s gets from rank r what r has for s") {
  const int ranks = world().size();
  std::vector<std::int64_t> values;
  for (int s = 0; s < ranks; ++s) values.push_back(100 * world().rank() + s);
  const auto received = halo::mpi::all_to_all(world(), values);
  REQUIRE(received.size() == values.size());
  for (int r = 0; r < ranks; ++r) CHECK(received[static_cast<std::size_t>(r)] == 100 * r + world().rank());
}

TEST_CASE("all_to_all of lists: rank r sends r + s values to rank s, none from 0 to 0") {
  const int ranks = world().size();
  std::vector<std::int64_t> values;
  std::vector<std::int64_t> offsets{0};
  for (int s = 0; s < ranks; ++s) {
    for (int i = 0; i < world().rank() + s; ++i) values.push_back(1000 * world().rank() + 10 * s + i);
    offsets.push_back(static_cast<std::int64_t>(values.size()));
  }
  const auto received = halo::mpi::all_to_all(world(), values, offsets);
  for (int r = 0; r < ranks; ++r) {
    const auto from = received.from(r);
    REQUIRE(from.size() == static_cast<std::size_t>(r + world().rank()));
    for (std::size_t i = 0; i < from.size(); ++i) {
      CHECK(from[i] == 1000 * r + 10 * world().rank() + static_cast<std::int64_t>(i));
    }
  }
  CHECK_THROWS_AS(halo::mpi::all_to_all(world(), values, std::vector<std::int64_t>{0}), halo::Error);
}

namespace {

/// A ring in one direction: each rank sends two rows to the next and gets two from the one before; nobody on
/// one rank.
struct Ring {
  std::vector<Rank> to, from;
  std::vector<std::int64_t> send_offsets{0}, receive_offsets{0};
  Ring() {
    if (world().size() == 1) return;
    to = {(world().rank() + 1) % world().size()};
    from = {(world().rank() + world().size() - 1) % world().size()};
    send_offsets.push_back(2);
    receive_offsets.push_back(2);
  }
  halo::mpi::RowLayout layout() const { return {to, send_offsets, from, receive_offsets}; }
};

}  // namespace

TEST_CASE("row exchange on a ring, each call, both types, several widths") {
  const Ring ring;
  RowExchange exchange(world(), ring.layout());
  std::vector calls = {RowExchange::Call::kNonblocking, RowExchange::Call::kBlocking,
                       RowExchange::Call::kPointToPoint};
  if (RowExchange::has_persistent()) calls.push_back(RowExchange::Call::kPersistent);
  std::vector<double> send, receive;
  std::vector<float> send_floats, receive_floats;
  for (auto* doubles : {&send, &receive}) doubles->reserve(128);  // a persistent call keeps its buffers
  for (auto* floats : {&send_floats, &receive_floats}) floats->reserve(128);
  for (const auto call : calls) {
    for (const std::size_t cols : {std::size_t{1}, std::size_t{7}, std::size_t{7}, std::size_t{64}}) {
      send.assign(2 * cols, world().rank());
      receive.assign(2 * cols, -1.0);
      exchange.start(call, send.data(), receive.data(), static_cast<std::int64_t>(cols));
      exchange.wait();
      CHECK_FALSE(exchange.in_flight());
      const double expected = ring.from.empty() ? -1.0 : ring.from[0];
      CHECK(receive == std::vector<double>(2 * cols, expected));
      send_floats.assign(2 * cols, static_cast<float>(world().rank()));
      receive_floats.assign(2 * cols, -1.0F);
      exchange.start(call, send_floats.data(), receive_floats.data(), static_cast<std::int64_t>(cols));
      while (!exchange.test()) {
      }
      CHECK(receive_floats == std::vector<float>(2 * cols, static_cast<float>(expected)));
    }
  }
}

TEST_CASE("a row exchange in flight waits in its destructor and refuses a second start") {
  const Ring ring;
  std::vector<float> send(2, static_cast<float>(world().rank()));
  std::vector<float> receive(2, -1.0F);
  {
    RowExchange exchange(world(), ring.layout());
    exchange.start(RowExchange::Call::kNonblocking, send.data(), receive.data(), 1);
    CHECK_THROWS_AS(exchange.start(RowExchange::Call::kNonblocking, send.data(), receive.data(), 1),
                    halo::Error);
  }
  CHECK(receive[1] == (ring.from.empty() ? -1.0F : static_cast<float>(ring.from[0])));
}

TEST_CASE("a persistent row exchange refuses other buffers, on every rank alike") {
  if (!RowExchange::has_persistent()) return;
  const Ring ring;
  RowExchange exchange(world(), ring.layout());
  std::vector<float> send(2), receive(2), other(2);
  exchange.start(RowExchange::Call::kPersistent, send.data(), receive.data(), 1);
  exchange.wait();
  CHECK_THROWS_AS(exchange.start(RowExchange::Call::kPersistent, send.data(), other.data(), 1), halo::Error);
}

TEST_CASE("a row layout of wrong size is refused") {
  const std::vector<Rank> nobody;
  const std::vector<std::int64_t> offsets;  // should hold one entry
  CHECK_THROWS_AS(RowExchange(world(), {nobody, offsets, nobody, offsets}), halo::Error);
}
