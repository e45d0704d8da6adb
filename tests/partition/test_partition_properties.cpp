// What must hold for every graph, method and number of parts.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "halo/partition/partition_graph.hpp"
#include "partition/small_dataset.hpp"

using namespace halo;
using namespace halo::partition;

namespace {

using Edges = std::vector<std::tuple<NodeId, NodeId, float>>;

/// Sorted (row, neighbour, weight) of a graph in original ids.
Edges edges_of(const graph::Csr& rows, const std::vector<NodeId>& original_id) {
  Edges edges;
  for (NodeId i = 0; i < rows.num_nodes(); ++i) {
    for (EdgeId e = rows.indptr[at(i)]; e < rows.indptr[at(i + 1)]; ++e) {
      edges.emplace_back(original_id[at(i)], original_id[at(rows.indices[at(e)])],
                         rows.weights.empty() ? 1.0F : rows.weights[at(e)]);
    }
  }
  std::ranges::sort(edges);
  return edges;
}

void check_structure(const PartitionedGraph& result, const graph::Csr& source) {
  std::vector<NodeId> identity(at(source.num_nodes()));
  std::iota(identity.begin(), identity.end(), NodeId{0});
  std::vector<NodeId> sorted = result.order.original_id;
  std::ranges::sort(sorted);
  CHECK(sorted == identity);  // each node once
  CHECK(edges_of(result.in, result.order.original_id) == edges_of(source, identity));
  CHECK(result.symmetric == graph::is_symmetric(source));
  if (!result.symmetric) {
    CHECK(edges_of(result.out, result.order.original_id) == edges_of(graph::transpose(source), identity));
  }
  for (NodeId i = 0; i < source.num_nodes(); ++i) CHECK(std::ranges::is_sorted(result.in.neighbours(i)));
}

void check_parts(const PartitionedGraph& result) {
  const auto& offsets = result.order.part_offsets;
  CHECK(offsets.front() == 0);
  CHECK(offsets.back() == result.in.num_nodes());
  const graph::Csr out = graph::transpose(result.in);
  for (std::size_t p = 0; p + 1 < offsets.size(); ++p) {
    CHECK(offsets[p] < offsets[p + 1]);
    for (NodeId i = offsets[p]; i < offsets[p + 1]; ++i) {
      const auto outside = [&](NodeId j) { return j < offsets[p] || j >= offsets[p + 1]; };
      const bool boundary = std::ranges::any_of(result.in.neighbours(i), outside) ||
                            std::ranges::any_of(out.neighbours(i), outside);
      CHECK(boundary == (i >= result.order.boundary_begin[p]));
    }
  }
}

void check_tiles(const PartitionedGraph& result) {
  const auto& tiles = result.tiles.tile_offsets;
  const auto& groups = result.tiles.group_offsets;
  CHECK(tiles.front() == 0);
  CHECK(tiles.back() == result.in.num_nodes());
  CHECK(groups.front() == 0);
  CHECK(groups.back() == std::ssize(tiles) - 1);
  for (std::size_t t = 0; t + 1 < tiles.size(); ++t) {
    CHECK(tiles[t] < tiles[t + 1]);
    CHECK(tiles[t + 1] - tiles[t] <= result.tiles.tile_rows);
  }
  std::vector<NodeId> group_rows;
  for (const std::int64_t tile : groups) group_rows.push_back(tiles[at(tile)]);
  for (std::size_t g = 0; g + 1 < groups.size(); ++g) {
    CHECK(groups[g] < groups[g + 1]);
    CHECK(groups[g + 1] - groups[g] <= result.tiles.tiles_per_group);
  }
  // Every line is where a group, and so a tile, ends.
  for (const auto* lines : {&result.order.part_offsets, &result.order.boundary_begin}) {
    for (const NodeId line : *lines) CHECK(std::ranges::binary_search(group_rows, line));
  }
}

void check_same(const PartitionedGraph& a, const PartitionedGraph& b) {
  CHECK(a.order.original_id == b.order.original_id);
  CHECK(a.order.part_offsets == b.order.part_offsets);
  CHECK(a.order.boundary_begin == b.order.boundary_begin);
  CHECK(a.in.indices == b.in.indices);
  CHECK(a.in.weights == b.in.weights);
  CHECK(a.tiles.group_offsets == b.tiles.group_offsets);
}

void check_all(const graph::Csr& source, PartitionOptions options) {
  const std::vector<std::uint8_t> is_train(at(source.num_nodes()), 1);
  const PartitionedGraph result = partition_graph(source, is_train, options);
  CHECK(result.parts() == options.parts);
  check_structure(result, source);
  check_parts(result);
  check_tiles(result);
  options.threads = 2;
  check_same(result, partition_graph(source, is_train, options));
}

}  // namespace

TEST_CASE(
    "every node once, every edge kept, interior rows first, tiles inside the lines, threads without effect") {
  const std::vector<Shape> shapes{{1, 0},
                                  {1, 3, true},
                                  {2, 1},
                                  {12, 0},
                                  {40, 60},
                                  {40, 60, true},
                                  {90, 500, false, true},
                                  {90, 500, true, true},
                                  {300, 900, true}};
  std::uint64_t seed = 1;
  for (const Shape& shape : shapes) {
    const graph::Csr source = random_graph(shape, seed).csr();
    for (const Method method : {Method::kMetis, Method::kRandom, Method::kBlock}) {
      for (const PartId parts :
           {PartId{1}, PartId{2}, PartId{5}, PartId{8}, static_cast<PartId>(shape.nodes)}) {
        if (parts > shape.nodes) continue;
        CAPTURE(shape.nodes);
        CAPTURE(shape.edges);
        CAPTURE(shape.directed);
        CAPTURE(parts);
        check_all(source,
                  {.parts = parts, .method = method, .seed = ++seed, .tile_rows = 7, .tiles_per_group = 3});
      }
    }
  }
}

TEST_CASE("any first run of parts has a short border") {
  // A long strip: with parts in order along it, every half of the parts has one short border.
  const graph::Csr strip = grid(8, 400).csr();
  const PartitionedGraph result =
      partition_graph(strip, std::vector<std::uint8_t>(3200, 0), {.parts = 16, .seed = 2});
  for (std::size_t parts = 1; parts < 16; ++parts) {
    const NodeId line = result.order.part_offsets[parts];
    EdgeId crossing = 0;
    for (NodeId i = 0; i < line; ++i) {
      crossing += std::ranges::count_if(result.in.neighbours(i), [line](NodeId j) { return j >= line; });
    }
    CHECK(crossing <= 24);
  }
}
