#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "halo/partition/partition_graph.hpp"
#include "halo/partition/quality.hpp"
#include "partition/small_graphs.hpp"

using namespace halo;
using namespace halo::partition;
using Counts = std::vector<std::int64_t>;

TEST_CASE("figures of a 4 x 4 grid cut into two halves, by hand") {
  // Parts: rows 0-1 and rows 2-3 of the grid. Four edges cross; four nodes on each side are needed by the
  // other.
  const PartitionedGraph graph = partition_graph(
      grid(4, 4).csr(), std::vector<std::uint8_t>{1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
      {.parts = 2, .method = Method::kBlock});
  const Quality& quality = graph.quality;
  CHECK(quality.symmetric);
  CHECK(quality.nodes == Counts{8, 8});
  CHECK(quality.boundary_nodes == Counts{4, 4});
  CHECK(quality.edges == Counts{24, 24});
  CHECK(quality.train_nodes == Counts{3, 1});
  CHECK(quality.in.halo_rows == Counts{4, 4});
  CHECK(quality.in.sent_rows == Counts{4, 4});
  CHECK(quality.in.owner_parts == Counts{1, 1});
  CHECK(quality.in.cut_entries == Counts{4, 4});
  const nlohmann::json json = to_json(quality);
  CHECK(json["cut_edges"] == 4);
  CHECK(json["cut_fraction"] == doctest::Approx(8.0 / 48.0));
  CHECK(json["in"]["halo_ratio"] == doctest::Approx(0.5));
  CHECK(json["train_nodes"]["balance"] == doctest::Approx(1.5));
  CHECK(json["nodes"]["parts"] == Counts{8, 8});
  CHECK(!json.contains("out"));
  CHECK(to_table(quality).find("cut edges") != std::string::npos);
}

TEST_CASE("a part that only feeds another has a halo in the backward direction only") {
  EdgeList edges{.nodes = 4};
  edges.add(0, 2);
  edges.add(0, 3);
  edges.add(1, 3);
  const PartitionedGraph graph =
      partition_graph(edges.csr(), std::vector<std::uint8_t>(4, 0), {.parts = 2, .method = Method::kBlock});
  CHECK(!graph.symmetric);
  CHECK(graph.quality.in.halo_rows == Counts{0, 2});
  CHECK(graph.quality.in.sent_rows == Counts{2, 0});
  CHECK(graph.quality.out.halo_rows == Counts{2, 0});
  CHECK(graph.quality.boundary_nodes == Counts{2, 2});
  CHECK(to_json(graph.quality)["cut_edges"] == 3);
  CHECK(to_json(graph.quality)["out"]["halo_rows"]["total"] == 2);
}

TEST_CASE("halo figures equal a count with sets on random graphs") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const graph::Csr rows = random_graph({.nodes = 60, .edges = 150, .directed = seed % 2 == 0}, seed).csr();
    const std::vector<NodeId> offsets{0, 7, 8, 30, 55, 60};
    const auto owner = [&offsets](NodeId node) {
      return static_cast<std::size_t>(std::ranges::upper_bound(offsets, node) - offsets.begin() - 1);
    };
    std::vector<std::set<NodeId>> needed(5);
    std::vector<std::set<std::size_t>> owners(5);
    Counts sent(5, 0);
    for (NodeId i = 0; i < 60; ++i) {
      for (const NodeId j : rows.neighbours(i)) {
        if (owner(i) == owner(j)) continue;
        if (needed[owner(i)].insert(j).second) ++sent[owner(j)];
        owners[owner(i)].insert(owner(j));
      }
    }
    const HaloFigures halo = measure_halo(rows, offsets);
    for (std::size_t p = 0; p < 5; ++p) {
      CHECK(halo.halo_rows[p] == std::ssize(needed[p]));
      CHECK(halo.owner_parts[p] == std::ssize(owners[p]));
    }
    CHECK(halo.sent_rows == sent);
  }
}

TEST_CASE("figures of each part are kept up to a limit") {
  Quality quality;
  quality.num_nodes = kPartsInFull + 1;
  const Counts ones(static_cast<std::size_t>(kPartsInFull) + 1, 1);
  quality.nodes = quality.boundary_nodes = quality.edges = quality.train_nodes = ones;
  quality.in = {.halo_rows = ones, .sent_rows = ones, .owner_parts = ones, .cut_entries = ones};
  CHECK(!to_json(quality)["nodes"].contains("parts"));
  CHECK(to_json(quality)["nodes"]["total"] == kPartsInFull + 1);
}
