#include <doctest/doctest.h>

#include "dist/shared_folder.hpp"
#include "halo/dist/training_subgraph.hpp"
#include "support/mpi_world.hpp"
#include "support/small_graphs.hpp"
#include "support/small_partition.hpp"

using halo::EdgeId;
using halo::LocalId;
using halo::NodeId;
using halo::testing::world;

namespace {

using Edge = std::pair<NodeId, NodeId>;

/// Original ids of the ends (neighbour, row) and weights, row by row.
std::vector<std::pair<Edge, float>> edges_of(const halo::graph::LocalGraph& graph,
                                             const halo::graph::Adjacency& rows) {
  std::vector<std::pair<Edge, float>> edges;
  for (LocalId i = 0; i < graph.owned; ++i) {
    for (EdgeId e = rows.indptr[halo::at(i)]; e < rows.indptr[halo::at(i) + 1]; ++e) {
      const LocalId column = rows.columns[halo::at(e)];
      const NodeId other = column < graph.owned ? graph.original_id[halo::at(column)]
                                                : rows.halo_original_id[halo::at(column - graph.owned)];
      edges.emplace_back(Edge{other, graph.original_id[halo::at(i)]},
                         rows.weights.empty() ? 1.0F : rows.weights[halo::at(e)]);
    }
  }
  return edges;
}

void check_subgraph(const halo::dist::LocalPartition& local, const halo::testing::SmallPartition& whole) {
  const auto is_train = [&](NodeId original) {
    return whole.split[halo::at(whole.in.num_nodes() - 1 - original)] == 1;
  };
  const auto graph = halo::dist::training_subgraph(world(), local);
  for (const bool out : {false, true}) {
    auto expected = edges_of(local.graph, out ? local.graph.out() : local.graph.in);
    std::erase_if(expected, [&](const auto& edge) {
      return !is_train(edge.first.first) || !is_train(edge.first.second);
    });
    CHECK(edges_of(graph, out ? graph.out() : graph.in) == expected);
  }
  CHECK(graph.in.halo == local.graph.in.halo);
  CHECK(graph.out().halo == local.graph.out().halo);
  CHECK(graph.groups.size() == local.graph.groups.size());
  std::vector<std::int64_t> totals = {std::ssize(graph.in.columns), 0};
  for (LocalId i = 0; i < graph.owned; ++i) {
    double degree = 0.0;
    for (EdgeId e = graph.in.indptr[halo::at(i)]; e < graph.in.indptr[halo::at(i) + 1]; ++e)
      degree += graph.in.weights.empty() ? 1.0 : static_cast<double>(graph.in.weights[halo::at(e)]);
    CHECK(graph.in_degree[halo::at(i)] == degree);
    CHECK((graph.active[halo::at(i)] == 1) == is_train(graph.original_id[halo::at(i)]));
    totals[1] += graph.active[halo::at(i)];
  }
  world().sum(totals);
  CHECK(graph.global_edges == totals[0]);
  CHECK(graph.global_active == totals[1]);
  CHECK(graph.global_nodes == whole.in.num_nodes());
}

}  // namespace

TEST_CASE("the training subgraph keeps the edges between training nodes, in the order of the whole") {
  for (const auto& [name, in_edges] : halo::testing::small_graphs()) {
    for (const bool weighted : {false, true}) {
      INFO(name);
      auto whole = halo::testing::make_small_partition(in_edges, 5);
      for (std::size_t i = 0; i < whole.split.size(); ++i)
        whole.split[i] = static_cast<std::uint8_t>(i % 3 == 2 ? 2 : 1);
      if (weighted) whole.in.weights.assign(whole.in.indices.size(), 0.5F);
      if (weighted && !whole.symmetric) whole.out.weights = whole.in.weights;
      const halo::testing::SharedFolder folder;
      if (world().rank() == 0) halo::testing::write_small_partition(folder.path(), whole);
      world().barrier();
      check_subgraph(halo::dist::load_partition(world(), folder.path()), whole);
    }
  }
}

TEST_CASE("a loop of a training node stays and counts, others go") {
  auto whole = halo::testing::make_small_partition(halo::testing::small_graphs()[4].in_edges, 5);
  whole.split = {1, 1, 2, 1, 1, 1};  // loops at nodes 0 and 2
  const halo::testing::SharedFolder folder;
  if (world().rank() == 0) halo::testing::write_small_partition(folder.path(), whole);
  world().barrier();
  const auto local = halo::dist::load_partition(world(), folder.path());
  const auto graph = halo::dist::training_subgraph(world(), local);
  for (LocalId i = 0; i < graph.owned; ++i) {
    const NodeId node = graph.first_node + i;
    CHECK(graph.loop_to_add[halo::at(i)] == (node == 0 ? 0.0F : 1.0F));
  }
}
