#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "halo/datasets/generate.hpp"
#include "halo/datasets/split_edges.hpp"
#include "temporary_folder.hpp"

namespace halo::datasets {
namespace {

using Edge = std::pair<NodeId, NodeId>;

std::multiset<Edge> edges_of(const Dataset& dataset) {
  std::multiset<Edge> edges;
  for (std::size_t e = 0; e < dataset.sources.size(); ++e)
    edges.emplace(dataset.sources[e], dataset.targets[e]);
  return edges;
}

void check_negatives(const HeldOutLinks& links, const std::multiset<Edge>& whole) {
  REQUIRE(std::ssize(links.negatives) == links.size() * links.negatives_each);
  for (std::size_t i = 0; i < links.negatives.size(); ++i) {
    const NodeId source = links.sources[i / at(links.negatives_each)];
    CHECK(links.negatives[i] != source);
    CHECK(!whole.contains({source, links.negatives[i]}));
  }
}

Dataset sbm(bool directed) {
  SbmOptions options;
  options.nodes = 400;
  options.directed = directed;
  return generate_sbm(options);
}

}  // namespace

TEST_CASE("what is held out and what stays make up the graph") {
  for (const bool directed : {false, true}) {
    CAPTURE(directed);
    const Dataset before = sbm(directed);
    const auto whole = edges_of(before);
    Dataset after = sbm(directed);
    split_edges(after, {.validation = 0.05, .test = 0.1, .negatives = 3, .seed = 7});
    const auto pairs = static_cast<double>(directed ? whole.size() : whole.size() / 2);
    CHECK(after.val_links.size() == std::llround(0.05 * pairs));
    CHECK(after.test_links.size() == std::llround(0.1 * pairs));
    auto all = edges_of(after);
    std::int64_t turned = 0;
    for (const HeldOutLinks* links : {&after.val_links, &after.test_links}) {
      for (std::size_t i = 0; i < links->sources.size(); ++i) {
        all.emplace(links->sources[i], links->targets[i]);
        if (!directed) all.emplace(links->targets[i], links->sources[i]);
        turned += links->sources[i] > links->targets[i] ? 1 : 0;
      }
      check_negatives(*links, whole);
    }
    CHECK(all == whole);  // so none is held out twice
    CHECK(turned > after.val_links.size() / 2);
    CHECK(turned < after.test_links.size());
    CHECK(after.task == kLinkPrediction);
    CHECK(after.labels.empty());
    CHECK(after.feature_cols() == before.feature_cols());
  }
}

TEST_CASE("the seed decides") {
  const auto held_out = [](std::uint64_t seed) {
    Dataset dataset = sbm(false);
    split_edges(dataset, {.seed = seed});
    return dataset.test_links;
  };
  CHECK(held_out(1).sources == held_out(1).sources);
  CHECK(held_out(1).negatives == held_out(1).negatives);
  CHECK(held_out(1).sources != held_out(2).sources);
}

TEST_CASE("loops stay, duplicates go together, weights stay with their edges") {
  Dataset dataset;
  dataset.num_nodes = 5;
  dataset.sources = {0, 1, 0, 1, 2, 2, 3};
  dataset.targets = {1, 0, 1, 0, 2, 3, 2};
  dataset.edge_weight = {1, 2, 3, 4, 5, 6, 7};
  split_edges(dataset, {.validation = 0, .test = 0.5});  // one of the pairs {0, 1} and {2, 3}
  REQUIRE(dataset.test_links.size() == 1);
  const bool first = std::min(dataset.test_links.sources[0], dataset.test_links.targets[0]) == 0;
  CHECK(dataset.edge_weight == (first ? std::vector<float>{5, 6, 7} : std::vector<float>{1, 2, 3, 4, 5}));
  CHECK(dataset.sources == (first ? std::vector<NodeId>{2, 2, 3} : std::vector<NodeId>{0, 1, 0, 1, 2}));
}

TEST_CASE("a dataset that holds edges out already is refused and stays as it is") {
  Dataset dataset = sbm(false);
  split_edges(dataset, {.validation = 0, .test = 0.1});
  const auto test = dataset.test_links.sources;
  const EdgeId left = dataset.num_edges();
  const std::string message = input_error_of([&] { split_edges(dataset, {}); });
  CHECK(contains(message, "holds edges out already"));
  CHECK(contains(message, fmt::format("0 validation and {} test edges", test.size())));
  CHECK(dataset.test_links.sources == test);
  CHECK(dataset.num_edges() == left);
}

TEST_CASE("an edge to all other nodes but one leaves that one, whatever loops and duplicates there are") {
  Dataset dataset;
  dataset.num_nodes = 4;
  dataset.sources = {0, 0, 0, 0, 0, 1};
  dataset.targets = {0, 1, 1, 2, 2, 3};
  const auto whole = edges_of(dataset);
  split_edges(dataset, {.validation = 0, .test = 0.67, .negatives = 8});  // two of three
  REQUIRE(dataset.test_links.size() == 2);
  check_negatives(dataset.test_links, whole);
}

TEST_CASE("options out of range, too few edges and nodes without a non-edge are refused") {
  const auto refusal = [](Dataset dataset, const SplitEdgesOptions& options) {
    return input_error_of([&] { split_edges(dataset, options); });
  };
  CHECK(contains(refusal(sbm(false), {.validation = -0.1}), "--val"));
  CHECK(contains(refusal(sbm(false), {.test = 1}), "--test"));
  CHECK(contains(refusal(sbm(false), {.validation = 0.5, .test = 0.5}), "--val + --test"));
  CHECK(contains(refusal(sbm(false), {.negatives = 0}), "--negatives"));
  Dataset complete;
  complete.num_nodes = 3;
  complete.sources = {0, 0, 1, 1, 2, 2};
  complete.targets = {1, 2, 0, 2, 0, 1};
  CHECK(contains(refusal(complete, {.validation = 0, .test = 0.4}), "no negative"));
  CHECK(contains(refusal(complete, {}), "too few edges"));
}

}  // namespace halo::datasets
