#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "halo/base/error.hpp"
#include "halo/partition/metis_graph.hpp"
#include "halo/partition/partitioner.hpp"
#include "partition/small_graphs.hpp"

using namespace halo;
using namespace halo::partition;

namespace {

Assignment assign(const EdgeList& edges, const PartitionOptions& options,
                  std::vector<std::uint8_t> is_train = {}) {
  const graph::Csr graph = edges.csr();
  std::vector<std::int64_t> degree;
  for (NodeId i = 0; i < graph.num_nodes(); ++i) degree.push_back(std::ssize(graph.neighbours(i)));
  is_train.resize(degree.size(), 0);
  return assign_nodes(graph::symmetric_loop_free(graph), degree, is_train, options);
}

std::int64_t cut_edges(const EdgeList& edges, const std::vector<PartId>& part) {
  std::int64_t cut = 0;
  for (std::size_t e = 0; e < edges.sources.size(); ++e) {
    cut +=
        part[static_cast<std::size_t>(edges.sources[e])] != part[static_cast<std::size_t>(edges.targets[e])];
  }
  return cut / 2;
}

void check_all_parts_used(const std::vector<PartId>& part, PartId parts) {
  const std::set<PartId> used(part.begin(), part.end());
  CHECK(std::ssize(used) == parts);
  CHECK(*used.begin() == 0);
  CHECK(*used.rbegin() == parts - 1);
}

std::string message_of(const EdgeList& edges, const PartitionOptions& options) {
  try {
    assign(edges, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

}  // namespace

TEST_CASE("graphs that METIS stumbles over get all their parts from every scheme") {
  EdgeList edgeless{.nodes = 11};
  EdgeList directed{.nodes = 9};
  for (NodeId i = 1; i < 9; ++i) directed.add(0, i);
  EdgeList complete{.nodes = 10};
  for (NodeId i = 0; i < 10; ++i) {
    for (NodeId j = 0; j < i; ++j) complete.add_both(i, j);
  }
  for (const EdgeList& edges :
       {star(10), star(40), edgeless, directed, complete, grid(5, 4), EdgeList{.nodes = 1}}) {
    const auto nodes = static_cast<PartId>(edges.nodes);
    for (const PartId parts : {PartId{1}, PartId{2}, PartId{3}, PartId{7}, nodes - 1, nodes}) {
      if (parts < 1 || parts > nodes) continue;
      for (const Scheme scheme : {Scheme::kKway, Scheme::kRecursive}) {
        CAPTURE(edges.nodes);
        CAPTURE(parts);
        check_all_parts_used(assign(edges, {.parts = parts, .scheme = scheme}).part, parts);
      }
      check_all_parts_used(assign(edges, {.parts = parts, .objective = Objective::kVolume}).part, parts);
    }
  }
}

TEST_CASE("METIS finds the halves of two cliques with a bridge") {
  EdgeList edges{.nodes = 40};
  const auto node = [](NodeId clique, NodeId i) {
    return 2 * i + clique;
  };  // interleaved, so that blocks cut a lot
  for (NodeId clique = 0; clique < 2; ++clique) {
    for (NodeId i = 0; i < 20; ++i) {
      for (NodeId j = 0; j < i; ++j) edges.add_both(node(clique, i), node(clique, j));
    }
  }
  edges.add_both(0, 1);
  for (const Scheme scheme : {Scheme::kKway, Scheme::kRecursive}) {
    CHECK(cut_edges(edges, assign(edges, {.parts = 2, .scheme = scheme}).part) == 1);
  }
  CHECK(cut_edges(edges, assign(edges, {.parts = 2, .method = Method::kBlock}).part) > 100);
}

TEST_CASE("several figures are balanced at once, and figures that are zero everywhere are left out") {
  const EdgeList edges = grid(32, 32);
  std::vector<std::uint8_t> is_train(1024, 0);
  std::fill(is_train.begin(), is_train.begin() + 128, std::uint8_t{1});  // four rows of the grid
  const PartitionOptions options{
      .parts = 4, .balance = {Balance::kNodes, Balance::kEdges, Balance::kTrain}, .imbalance = 1.1};
  const std::vector<PartId> part = assign(edges, options, is_train).part;
  std::vector<std::int64_t> train(4, 0);
  for (std::size_t i = 0; i < 128; ++i) ++train[static_cast<std::size_t>(part[i])];
  CHECK(std::ranges::max(train) <= 40);
  CHECK(std::ranges::max(part_sizes(part, 4)) <= 290);
  // Without balance the four rows mostly fall into few parts, so the option does something.
  const std::vector<PartId> plain = assign(edges, {.parts = 4}, is_train).part;
  std::vector<std::int64_t> plain_train(4, 0);
  for (std::size_t i = 0; i < 128; ++i) ++plain_train[static_cast<std::size_t>(plain[i])];
  CHECK(std::ranges::max(plain_train) > 40);

  CHECK(assign(edges, {.parts = 4, .balance = {Balance::kTrain}}).part == plain);
}

TEST_CASE("random and block parts are equal to one node; each seed its own random parts") {
  const EdgeList edges = grid(10, 1);
  CHECK(assign(edges, {.parts = 4, .method = Method::kBlock}).part ==
        std::vector<PartId>{0, 0, 0, 1, 1, 1, 2, 2, 3, 3});
  const auto random = assign(edges, {.parts = 4, .method = Method::kRandom, .seed = 1}).part;
  CHECK(part_sizes(random, 4) == std::vector<NodeId>{3, 3, 2, 2});
  CHECK(random == assign(edges, {.parts = 4, .method = Method::kRandom, .seed = 1}).part);
  CHECK(random != assign(edges, {.parts = 4, .method = Method::kRandom, .seed = 2}).part);
}

TEST_CASE("METIS parts are a function of the seed") {
  const EdgeList edges = random_graph({.nodes = 400, .edges = 1500}, 5);
  const auto part = assign(edges, {.parts = 8, .seed = 3}).part;
  CHECK(part == assign(edges, {.parts = 8, .seed = 3}).part);
  CHECK(part != assign(edges, {.parts = 8, .seed = 4}).part);
}

TEST_CASE("empty parts get half of the largest part") {
  std::vector<PartId> part{3, 3, 3, 3, 3, 1};
  CHECK(repair_empty_parts(part, 4) == 2);
  // Part 0 takes the upper two of part 3's five nodes; then part 2 takes the last of the remaining three.
  CHECK(part == std::vector<PartId>{3, 3, 2, 0, 0, 1});
  CHECK(repair_empty_parts(part, 4) == 0);
  std::vector<PartId> single{0, 0, 0};
  CHECK(repair_empty_parts(single, 3) == 2);
  check_all_parts_used(single, 3);
  CHECK_THROWS_AS(repair_empty_parts(single, 4), Error);
}

TEST_CASE("options that do not fit are refused by name") {
  const EdgeList edges = grid(3, 2);
  const auto contains = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(contains(message_of(edges, {.parts = 7}), "1 to 6"));
  CHECK(contains(message_of(edges, {.parts = 0}), "too few parts"));
  CHECK(
      contains(message_of(edges, {.parts = 2, .scheme = Scheme::kRecursive, .objective = Objective::kVolume}),
               "--objective"));
  CHECK(contains(message_of(edges, {.parts = 2, .balance = {}}), "--balance"));
  CHECK(contains(message_of(edges, {.parts = 2, .balance = {Balance::kEdges, Balance::kEdges}}),
                 "named twice"));
  CHECK(contains(message_of(edges, {.parts = 2, .imbalance = 1.0}), "--imbalance"));
  CHECK(contains(message_of(edges, {.parts = 2, .method = Method::kBlock, .balance = {Balance::kEdges}}),
                 "METIS"));
  CHECK(contains(message_of(edges, {.parts = 2, .tile_rows = 0}), "--tile-rows"));
  CHECK(contains(message_of(edges, {.parts = 2, .tiles_per_group = 0}), "--tiles-per-group"));
  CHECK(contains(message_of(edges, {.parts = 2, .threads = 0}), "--threads"));
  CHECK_THROWS_AS(parse_method("scotch"), InputError);
  CHECK_THROWS_AS(parse_scheme(""), InputError);
  CHECK(parse_method(to_string(Method::kRandom)) == Method::kRandom);
  CHECK(parse_scheme(to_string(Scheme::kRecursive)) == Scheme::kRecursive);
  CHECK(parse_objective(to_string(Objective::kVolume)) == Objective::kVolume);
  CHECK(parse_balance(to_string(Balance::kTrain)) == Balance::kTrain);
}

TEST_CASE("weight sums beyond 32 bits never reach METIS") {
  // A path of four nodes; METIS 5.1.0 itself would answer "success" with everything in one part.
  MetisGraph path{.offsets = {0, 1, 3, 5, 6}, .neighbours = {1, 0, 2, 1, 3, 2}};
  path.node_weights.assign(4, 1 << 30);
  CHECK_THROWS_AS(run_metis(path, {.parts = 2}), InputError);
  path.node_weights.assign(4, 1 << 28);
  CHECK(run_metis(path, {.parts = 2, .scheme = Scheme::kRecursive}).size() == 4);
  path.edge_weights.assign(6, 1 << 29);
  CHECK_THROWS_AS(run_metis(path, {.parts = 2}), InputError);
  path.edge_weights.clear();
  CHECK_THROWS_AS(run_metis(path, {.parts = 1}), Error);
  CHECK_THROWS_AS(run_metis(path, {.parts = 5}), Error);
}
