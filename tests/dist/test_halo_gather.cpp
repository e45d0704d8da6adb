#include <doctest/doctest.h>

#include <algorithm>

#include "halo/base/error.hpp"
#include "halo/dist/halo_gather.hpp"
#include "halo/dist/transport_choice.hpp"
#include "halo/mpi/communicator.hpp"
#include "halo/mpi/row_exchange.hpp"
#include "support/mpi_world.hpp"
#include "support/small_graphs.hpp"

using halo::MatrixView;
using halo::NodeId;
using halo::dist::HaloGather;
using halo::dist::HaloPlan;
using halo::dist::Transport;
using halo::testing::Share;
using halo::testing::world;

namespace {

const std::vector<Transport> kTransports = [] {
  std::vector transports = {Transport::kNonblocking, Transport::kBlocking, Transport::kPointToPoint};
  if (halo::mpi::RowExchange::has_persistent()) transports.push_back(Transport::kPersistent);
  return transports;
}();

/// One graph over all ranks, one part each.
struct Setting {
  explicit Setting(const halo::graph::Csr& graph)
      : ownership(halo::testing::even_ownership(graph.num_nodes(), world().size())),
        share(halo::testing::share_of(graph, ownership, world().rank(), ownership.first_node)),
        in_plan(halo::dist::make_halo_plan(world(), ownership, share.in_halo)),
        out_plan(halo::dist::make_halo_plan(world(), ownership, share.out_halo)) {}

  halo::dist::Ownership ownership;
  Share share;
  HaloPlan in_plan;
  HaloPlan out_plan;
};

/// What element (node, c) holds in a round: no two alike.
template <typename Real>
Real value(NodeId node, std::int64_t column, int round) {
  return static_cast<Real>(node * 128 + column) + static_cast<Real>(round) / Real{8};
}

/// [owned + halo x cols]: owned rows filled, halo rows -1.
template <typename Real>
std::vector<Real> filled(const Setting& setting, std::size_t halo_rows, std::int64_t cols, int round) {
  std::vector<Real> x;
  for (halo::LocalId i = 0; i < setting.share.graph.owned; ++i) {
    for (std::int64_t c = 0; c < cols; ++c)
      x.push_back(value<Real>(setting.share.graph.first_node + i, c, round));
  }
  x.resize(x.size() + halo_rows * static_cast<std::size_t>(cols), Real{-1});
  return x;
}

template <typename Real>
MatrixView<Real> view(std::vector<Real>& x, const Setting& setting, std::size_t halo_rows,
                      std::int64_t cols) {
  return {x.data(), setting.share.graph.owned + static_cast<std::int64_t>(halo_rows), cols};
}

/// What `x` must be after the gather.
template <typename Real>
std::vector<Real> gathered(const Setting& setting, const std::vector<NodeId>& halo_ids, std::int64_t cols,
                           int round) {
  std::vector<Real> x = filled<Real>(setting, 0, cols, round);
  for (const NodeId id : halo_ids) {
    for (std::int64_t c = 0; c < cols; ++c) x.push_back(value<Real>(id, c, round));
  }
  return x;
}

template <typename Real>
void check_gathers(const Setting& setting, Transport transport, int threads) {
  const auto& halo_ids = setting.share.in_halo;
  HaloGather<Real> gather(world(), setting.in_plan, transport, 100);
  halo::dist::GatherStatistics sums;
  int round = 0;
  for (const std::int64_t cols : {1, 3, 16, 100, 3}) {
    for (int repeat = 0; repeat < 2; ++repeat, ++round) {
      std::vector<Real> x = filled<Real>(setting, halo_ids.size(), cols, round);
      gather.start(view(x, setting, halo_ids.size(), cols), threads);
      gather.poke();
      gather.finish();
      sums.add(gather.last());
      CHECK(x == gathered<Real>(setting, halo_ids, cols, round));
    }
  }
  CHECK(sums.gathers == 10);
  CHECK(sums.bytes_sent ==
        2 * (1 + 3 + 16 + 100 + 3) * setting.in_plan.rows_sent() * static_cast<std::int64_t>(sizeof(Real)));
  sums.add(sums);
  CHECK(sums.gathers == 20);
}

}  // namespace

TEST_CASE("every transport fills the halo with the owners' rows, any width, float and double, repeatedly") {
  for (const auto& [name, graph] : halo::testing::small_graphs()) {
    const Setting setting(graph);
    for (const Transport transport : kTransports) {
      INFO(name);
      INFO(halo::dist::to_string(transport));
      check_gathers<float>(setting, transport, 1);
      check_gathers<double>(setting, transport, 2);
    }
  }
}

TEST_CASE("a plan for rows of low levels sends these alone, puts them where they belong, leaves the others") {
  const auto level_of = [](NodeId id) { return static_cast<std::uint8_t>(id * 7 % 4); };
  for (const auto& [name, graph] : halo::testing::small_graphs()) {
    const Setting setting(graph);
    const auto& halo_ids = setting.share.in_halo;
    std::vector<std::uint8_t> owned, halo;
    for (halo::LocalId i = 0; i < setting.share.graph.owned; ++i)
      owned.push_back(level_of(setting.share.graph.first_node + i));
    for (const NodeId id : halo_ids) halo.push_back(level_of(id));
    for (const std::uint8_t level : std::vector<std::uint8_t>{0, 2, 3}) {
      const HaloPlan plan = halo::dist::plan_to_level(setting.in_plan, owned, halo, level);
      for (const Transport transport : kTransports) {
        INFO(name);
        HaloGather<float> gather(world(), plan, transport, 5);
        std::vector<float> x = filled<float>(setting, halo_ids.size(), 5, 1);
        gather.start(view(x, setting, halo_ids.size(), 5), 2);
        gather.finish();
        std::vector<float> expected = gathered<float>(setting, halo_ids, 5, 1);
        std::int64_t left_out = 0;
        for (std::size_t k = 0; k < halo_ids.size(); ++k) {
          if (halo[k] <= level) continue;
          ++left_out;
          std::fill_n(expected.end() - 5 * static_cast<std::ptrdiff_t>(halo_ids.size() - k), 5, -1.0F);
        }
        CHECK(x == expected);
        CHECK(plan.rows_received() == std::ssize(halo_ids) - left_out);
        CHECK(gather.last().bytes_sent == plan.rows_sent() * 5 * 4);
      }
    }
  }
}

TEST_CASE("a gather says when it was posted, arrived and was waited for; seconds are the sums over gathers") {
  const halo::graph::Csr graph = halo::testing::random_graph(60, 0.2, true, 4);
  const Setting setting(graph);
  for (const Transport transport : kTransports) {
    INFO(halo::dist::to_string(transport));
    HaloGather<float> gather(world(), setting.in_plan, transport, 3);
    halo::dist::GatherStatistics sums;
    double waited = 0.0;
    double hidden = 0.0;
    for (int round = 0; round < 3; ++round) {
      std::vector<float> x = filled<float>(setting, setting.share.in_halo.size(), 3, round);
      gather.start(view(x, setting, setting.share.in_halo.size(), 3), 1);
      for (int k = 0; k < 5; ++k) gather.poke();
      gather.finish();
      const halo::dist::GatherRecord& last = gather.last();
      CHECK(last.bytes_sent == setting.in_plan.rows_sent() * 3 * 4);
      CHECK(last.packing <= last.posted);
      CHECK(last.posted <= last.waiting);
      CHECK(last.waiting <= last.finished);
      CHECK(last.posted <= last.arrived);
      CHECK(last.arrived <= last.finished);
      if (world().size() == 1) CHECK(last.arrived == last.posted);
      if (world().size() == 1) CHECK(last.waited() == 0);
      if (transport == Transport::kBlocking) CHECK(last.hidden() == 0);
      sums.add(last);
      waited += static_cast<double>(last.waited()) / 1e9;
      hidden += static_cast<double>(last.hidden()) / 1e9;
    }
    CHECK(sums.waited_seconds == doctest::Approx(waited));
    CHECK(sums.hidden_seconds == doctest::Approx(hidden));
  }
}

TEST_CASE("what a gather hid ends when its rows were seen to be there, or when it was waited for") {
  constexpr halo::dist::GatherRecord kEarly{.posted = 10, .waiting = 100, .finished = 100, .arrived = 40};
  CHECK(kEarly.hidden() == 30);
  CHECK(kEarly.waited() == 0);
  constexpr halo::dist::GatherRecord kLate{.posted = 10, .waiting = 100, .finished = 150, .arrived = 150};
  CHECK(kLate.hidden() == 90);
  CHECK(kLate.waited() == 50);
}

TEST_CASE("packing on two threads: more rows to send than one block holds") {
  const Setting setting(halo::testing::random_graph(1200, 0.004, true, 7));
  check_gathers<float>(setting, Transport::kNonblocking, 2);
}

TEST_CASE("two gathers on the in- and the out-plan may be in flight together and alternate") {
  const Setting setting(halo::testing::random_graph(37, 0.1, false, 2));
  const auto& in_ids = setting.share.in_halo;
  const auto& out_ids = setting.share.out_halo;
  for (const Transport transport : kTransports) {
    INFO(halo::dist::to_string(transport));
    HaloGather<float> in(world(), setting.in_plan, transport, 8);
    HaloGather<float> out(world(), setting.out_plan, transport, 8);
    for (int round = 0; round < 6; ++round) {
      auto x = filled<float>(setting, in_ids.size(), 8, round);
      auto y = filled<float>(setting, out_ids.size(), 5, round + 100);
      in.start(view(x, setting, in_ids.size(), 8), 1);
      out.start(view(y, setting, out_ids.size(), 5), 1);
      if (round % 2 == 0) {
        in.finish();
        out.finish();
      } else {
        out.finish();
        in.finish();
      }
      CHECK(x == gathered<float>(setting, in_ids, 8, round));
      CHECK(y == gathered<float>(setting, out_ids, 5, round + 100));
    }
  }
}

TEST_CASE("where one side only feeds the other, bytes go one way") {
  const Setting setting(halo::testing::one_way(12));
  HaloGather<double> in(world(), setting.in_plan, Transport::kNonblocking, 2);
  auto x = filled<double>(setting, setting.share.in_halo.size(), 2, 0);
  in.start(view(x, setting, setting.share.in_halo.size(), 2), 1);
  in.finish();
  CHECK(x == gathered<double>(setting, setting.share.in_halo, 2, 0));
  if (world().size() == 2) CHECK((in.last().bytes_sent > 0) == (world().rank() == 0));
  if (world().size() == 2) CHECK(setting.in_plan.receive_from.empty() == (world().rank() == 0));
}

TEST_CASE("a gather in flight completes when it is destroyed") {
  const Setting setting(halo::testing::star(9));
  auto x = filled<float>(setting, setting.share.in_halo.size(), 4, 1);
  {
    HaloGather<float> gather(world(), setting.in_plan, Transport::kNonblocking, 4);
    gather.start(view(x, setting, setting.share.in_halo.size(), 4), 1);
    HaloGather<float> moved = std::move(gather);
  }
  CHECK(x == gathered<float>(setting, setting.share.in_halo, 4, 1));
}

TEST_CASE("a matrix that does not fit is refused before anything is sent") {
  const Setting setting(halo::testing::star(9));
  const std::size_t halo_rows = setting.share.in_halo.size();
  HaloGather<float> gather(world(), setting.in_plan, Transport::kNonblocking, 4);
  std::vector<float> x(1000);
  CHECK_THROWS_AS(gather.start(view(x, setting, halo_rows, 5), 1), halo::Error);
  CHECK_THROWS_AS(gather.start(MatrixView<float>(x.data(), 20, 3, 4), 1), halo::Error);
  if (halo_rows > 0) {
    CHECK_THROWS_AS(gather.start(MatrixView<float>(x.data(), static_cast<std::int64_t>(halo_rows) - 1, 3), 1),
                    halo::Error);
  }
  auto good = filled<float>(setting, halo_rows, 3, 0);
  gather.start(view(good, setting, halo_rows, 3), 1);
  gather.finish();
  CHECK(good == gathered<float>(setting, setting.share.in_halo, 3, 0));
}

TEST_CASE("names of transports") {
  for (const Transport transport : kTransports) {
    CHECK(halo::dist::parse_transport(halo::dist::to_string(transport)) == transport);
  }
  CHECK(halo::dist::parse_transport("auto") == Transport::kAuto);
  CHECK(std::string(halo::dist::to_string(Transport::kAuto)) == "auto");
  CHECK_THROWS_AS(halo::dist::parse_transport("pigeon"), halo::InputError);
  if (halo::mpi::RowExchange::has_persistent()) return;
  CHECK_THROWS_AS(halo::dist::parse_transport("persistent"), halo::InputError);
}

TEST_CASE("transports are measured alike on every rank, the fastest first; a gather needs one of them") {
  for (const auto& [name, graph] : halo::testing::small_graphs()) {
    INFO(name);
    const Setting setting(graph);
    const auto times = halo::dist::measure_transports(world(), setting.in_plan, setting.share.graph);
    CHECK(times.size() == kTransports.size());
    for (std::size_t k = 0; k < times.size(); ++k) {
      CHECK(times[k].seconds > 0.0);
      if (k > 0) CHECK(times[k].seconds >= times[k - 1].seconds);
      double same[] = {static_cast<double>(times[k].transport), -static_cast<double>(times[k].transport)};
      world().max(std::span<double>(same));
      CHECK(same[0] == -same[1]);
    }
  }
  const Setting setting(halo::testing::small_graphs().front().in_edges);
  CHECK_THROWS_AS(HaloGather<float>(world(), setting.in_plan, Transport::kAuto, 1), halo::Error);
}
