#include <doctest/doctest.h>

#include <numeric>

#include "halo/dist/halo_plan.hpp"
#include "halo/mpi/communicator.hpp"
#include "halo/mpi/exchange.hpp"
#include "support/mpi_world.hpp"
#include "support/small_graphs.hpp"

using halo::at;
using halo::NodeId;
using halo::Rank;
using halo::dist::HaloPlan;
using halo::testing::world;

namespace {

/// Global ids that the plan sends to `rank`.
std::vector<NodeId> sent_ids(const HaloPlan& plan, Rank rank, NodeId first_node) {
  std::vector<NodeId> ids;
  for (std::size_t n = 0; n < plan.send_to.size(); ++n) {
    if (plan.send_to[n] != rank) continue;
    for (auto i = plan.send_offsets[n]; i < plan.send_offsets[n + 1]; ++i) {
      ids.push_back(first_node + plan.send_rows[at(i)]);
    }
  }
  return ids;
}

void check_shape(const HaloPlan& plan) {
  for (const auto* ranks : {&plan.send_to, &plan.receive_from}) {
    for (std::size_t n = 0; n < ranks->size(); ++n) {
      CHECK((*ranks)[n] != world().rank());
      if (n > 0) CHECK((*ranks)[n - 1] < (*ranks)[n]);
    }
  }
  REQUIRE(plan.send_offsets.size() == plan.send_to.size() + 1);
  REQUIRE(plan.receive_offsets.size() == plan.receive_from.size() + 1);
  for (std::size_t n = 0; n < plan.send_to.size(); ++n)
    CHECK(plan.send_offsets[n] < plan.send_offsets[n + 1]);
  for (std::size_t n = 0; n < plan.receive_from.size(); ++n) {
    CHECK(plan.receive_offsets[n] < plan.receive_offsets[n + 1]);
  }
}

/// The plan of this rank against the halos of all ranks, each found without communication.
void check_plan(const HaloPlan& plan, const halo::graph::Csr& graph, bool out) {
  const auto ownership = halo::testing::even_ownership(graph.num_nodes(), world().size());
  const auto parts = ownership.first_node;
  check_shape(plan);
  std::int64_t received = 0;
  for (Rank rank = 0; rank < world().size(); ++rank) {
    const auto share = halo::testing::share_of(graph, ownership, rank, parts);
    const auto& halo_ids = out ? share.out_halo : share.in_halo;
    std::vector<NodeId> from_here;
    std::int64_t mine_from_rank = 0;
    for (const NodeId id : halo_ids) {
      if (ownership.owner_of(id) == world().rank()) from_here.push_back(id);
    }
    CHECK(sent_ids(plan, rank, ownership.nodes_of(world().rank()).begin) == from_here);
    if (rank == world().rank()) {
      received = static_cast<std::int64_t>(halo_ids.size());
      std::size_t next = 0;
      for (std::size_t n = 0; n < plan.receive_from.size(); ++n) {
        for (auto i = plan.receive_offsets[n]; i < plan.receive_offsets[n + 1]; ++i, ++mine_from_rank) {
          CHECK(ownership.owner_of(halo_ids[next++]) == plan.receive_from[n]);
        }
      }
      CHECK(mine_from_rank == received);
    }
  }
  CHECK(plan.rows_received() == received);
}

/// What r sends to s is what s receives from r, as counts over all pairs of ranks.
void check_transposed(const HaloPlan& plan) {
  std::vector<std::int64_t> sent(at(world().size()));
  for (std::size_t n = 0; n < plan.send_to.size(); ++n) {
    sent[at(plan.send_to[n])] = plan.send_offsets[n + 1] - plan.send_offsets[n];
  }
  std::vector<std::int64_t> received(at(world().size()));
  for (std::size_t n = 0; n < plan.receive_from.size(); ++n) {
    received[at(plan.receive_from[n])] = plan.receive_offsets[n + 1] - plan.receive_offsets[n];
  }
  CHECK(halo::mpi::all_to_all(world(), sent) == received);
}

}  // namespace

TEST_CASE("halo plans of small graphs, both directions, against each rank's halo found by itself") {
  for (const auto& [name, graph] : halo::testing::small_graphs()) {
    INFO(name);
    const auto ownership = halo::testing::even_ownership(graph.num_nodes(), world().size());
    const auto share = halo::testing::share_of(graph, ownership, world().rank(), ownership.first_node);
    for (const bool out : {false, true}) {
      INFO((out ? "out" : "in"));
      const HaloPlan plan =
          halo::dist::make_halo_plan(world(), ownership, out ? share.out_halo : share.in_halo);
      check_plan(plan, graph, out);
      check_transposed(plan);
    }
  }
}

TEST_CASE("each node is owned once") {
  for (const auto& [name, graph] : halo::testing::small_graphs()) {
    const auto ownership = halo::testing::even_ownership(graph.num_nodes(), world().size());
    std::vector<std::int64_t> owners(at(graph.num_nodes()));
    const halo::RowRange mine = ownership.nodes_of(world().rank());
    for (NodeId node = mine.begin; node < mine.end; ++node) ++owners[at(node)];
    world().sum(owners);
    CHECK(owners == std::vector<std::int64_t>(at(graph.num_nodes()), 1));
  }
}

TEST_CASE("one rank that asks for its own, an unknown or an unsorted id stops all ranks") {
  const auto ownership = halo::testing::even_ownership(2 * world().size(), world().size());
  const NodeId own = ownership.nodes_of(world().rank()).begin;
  const bool bad_here = world().rank() == world().size() - 1;
  for (const std::vector<NodeId>& bad : {std::vector<NodeId>{own}, {2 * world().size()}, {-1}, {1, 0}}) {
    const std::vector<NodeId> ids = bad_here ? bad : std::vector<NodeId>{};
    CHECK_THROWS_AS(halo::dist::make_halo_plan(world(), ownership, ids), halo::Error);
  }
  const auto other = halo::testing::even_ownership(2, world().size() + 1);
  CHECK_THROWS_AS(halo::dist::make_halo_plan(world(), other, {}), halo::Error);
}
