// Rows that the loss does not depend on are left out, and no bit of the result changes.

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "halo/base/counter_rng.hpp"
#include "halo/graph/csr.hpp"
#include "halo/graph/row_levels.hpp"
#include "halo/nn/executor.hpp"
#include "halo/nn/models.hpp"
#include "halo/nn/passes.hpp"

namespace nn = halo::nn;
namespace op = halo::nn::op;
using halo::at;
using halo::NodeId;
using halo::graph::kLastLevel;

namespace {

constexpr std::int64_t kNodes = 240, kFeatures = 6, kClasses = 3, kTileRows = 4;

void no_halo(halo::graph::LocalGraph&) {}

/// Sparse, directed or not, weighted or not; the loss is a sum over the first and some of the last nodes.
halo::graph::LocalGraph sparse_graph(bool directed, bool weighted) {
  halo::RandomStream random(11);
  std::vector<NodeId> sources, targets;
  std::vector<float> weights;
  for (std::int64_t e = 0; e < kNodes / 2; ++e) {
    const auto i = static_cast<NodeId>(random.below(at(kNodes)));
    const auto j = static_cast<NodeId>(random.below(at(kNodes)));
    const auto weight = static_cast<float>(0.5 + random.uniform());
    for (const bool back : {false, true}) {
      if (back && directed) continue;
      sources.push_back(back ? j : i);
      targets.push_back(back ? i : j);
      weights.push_back(weight);
    }
  }
  if (!weighted) weights.clear();
  return halo::graph::whole_graph(halo::graph::build_in_edges(kNodes, sources, targets, weights), kTileRows,
                                  3);
}

nn::Targets few_targets() {
  nn::Targets targets;
  targets.cols = kClasses;
  for (auto& rows : targets.rows) rows.assign(at(kNodes), 0);
  for (NodeId i = 0; i < kNodes; ++i) {
    targets.labels.push_back(static_cast<std::int32_t>(i % kClasses));
    const std::size_t split = i < 3 || i % 60 == 59 ? 0 : 1;
    targets.rows[split][at(i)] = 1;
    ++targets.global_count[split];
  }
  return targets;
}

struct Result {
  double loss = 0.0;
  std::vector<float> gradient, parameters;
};

/// One epoch in memory that held NaN wherever an evaluation writes: rows that are left out stay so.
Result train(const halo::graph::LocalGraph& graph, const nn::Program& model) {
  halo::RandomStream random(5);
  std::vector<float> features;
  for (std::int64_t k = 0; k < kNodes * kFeatures; ++k)
    features.push_back(static_cast<float>(random.normal()));
  nn::SoloExchange<float> alone;
  nn::Executor<float> executor(graph, {features.data(), kNodes, kFeatures}, few_targets(),
                               nn::make_schedules(model, graph), alone, 2);
  executor.fold_constants();
  const std::vector<float> nothing(at(model.parameter_count()), std::numeric_limits<float>::quiet_NaN());
  executor.evaluate(nothing);
  Result result;
  result.parameters.resize(at(model.parameter_count()));
  nn::initialise_parameters(model, 1, result.parameters.data());
  result.gradient.resize(result.parameters.size());
  result.loss = executor.train(result.parameters, 1, 1, result.gradient);
  return result;
}

void check_same_bits(const nn::ModelOptions& options, bool directed, bool weighted) {
  CAPTURE(options.model);
  CAPTURE(options.norm);
  CAPTURE(options.aggregator);
  CAPTURE(options.jumping);
  CAPTURE(directed);
  const nn::Program model = nn::build_model(options, kFeatures, kClasses);
  halo::graph::LocalGraph graph = sparse_graph(directed, weighted);
  const Result all = train(graph, model);
  halo::graph::mark_levels(graph, few_targets().rows[0], no_halo);
  for (const int level : {0, 1, 3}) {  // some rows of most levels, so that something is left out
    CHECK(std::ranges::count(graph.level, static_cast<std::uint8_t>(level)) > 0);
  }
  const Result some = train(graph, model);
  CHECK(some.loss == all.loss);
  CHECK(some.gradient == all.gradient);
  CHECK(some.parameters == all.parameters);  // running statistics are among them
}

std::int8_t level_of(const nn::Schedule& schedule, const std::string& name, std::size_t which) {
  for (std::size_t k = 0; k < schedule.rows.size(); ++k) {
    if (nn::describe(schedule.program.operations[k].kind).starts_with(name) && which-- == 0) {
      return schedule.rows[k].compute;
    }
  }
  FAIL("no operation ", name);
  return nn::kNoRows;
}

}  // namespace

TEST_CASE("levels on a path, by hand: in-neighbours of in-neighbours, whole tiles") {
  // 0 -> 1 -> ... -> 9, the loss at 6
  std::vector<NodeId> sources, targets;
  for (NodeId i = 0; i < 9; ++i) {
    sources.push_back(i);
    targets.push_back(i + 1);
  }
  const auto levels = [&](std::int64_t tile_rows) {
    halo::graph::LocalGraph graph =
        halo::graph::whole_graph(halo::graph::build_in_edges(10, sources, targets), tile_rows, 2);
    std::vector<std::uint8_t> starts(10, 0);
    starts[6] = 1;
    halo::graph::mark_levels(graph, starts, no_halo);
    for (const auto& tile : graph.tiles) CHECK(tile.level == graph.level[at(tile.rows.begin)]);
    return graph.level;
  };
  CHECK(levels(1) == std::vector<std::uint8_t>{3, 3, 3, 3, 2, 1, 0, 3, 3, 3});
  CHECK(levels(2) == std::vector<std::uint8_t>{3, 3, 2, 2, 1, 1, 0, 0, 3, 3});
}

TEST_CASE("each sum over neighbours needs rows of one level more; gradients come back as far") {
  const nn::Program model =
      nn::build_model({.model = "gcn", .layers = 3, .hidden = 4, .dropout = 0.0}, kFeatures, kClasses);
  const nn::Schedule schedule = nn::make_schedule(nn::train_program(model), {.owned = 8, .tile = 4});
  CHECK(level_of(schedule, "loss", 0) == 0);
  CHECK(level_of(schedule, "relu", 0) == 2);
  CHECK(level_of(schedule, "relu", 1) == 1);
  CHECK(level_of(schedule, "neighbour_sum(out", 0) == 1);  // of the gradient of the last layer
  CHECK(level_of(schedule, "neighbour_sum(out", 1) == 2);
  for (std::size_t k = 0; k < schedule.rows.size(); ++k) {
    const auto* sum = std::get_if<op::NeighbourSum>(&schedule.program.operations[k].kind);
    if (sum == nullptr) continue;
    const bool backward = sum->direction == nn::Direction::kOut;
    CHECK((schedule.rows[k].edges < kLastLevel) == backward);
  }
}

TEST_CASE("batch norm needs all rows before it and gives all a gradient") {
  const nn::Program model = nn::build_model(
      {.model = "gcn", .layers = 2, .hidden = 4, .dropout = 0.0, .norm = "batch"}, kFeatures, kClasses);
  const nn::Schedule schedule = nn::make_schedule(nn::train_program(model), {.owned = 8, .tile = 4});
  CHECK(level_of(schedule, "batch_norm_statistics", 0) == kLastLevel);
  CHECK(level_of(schedule, "batch_norm_gradient_sums", 0) == 1);
  CHECK(level_of(schedule, "batch_norm_gradient", 1) == kLastLevel);
}

TEST_CASE("the same bits with rows left out: every model, norms, jumps, aggregators, loops and weights") {
  for (const std::string& name : nn::model_names()) {
    nn::ModelOptions options{.model = name, .hidden = 8, .input_dropout = 0.2};
    if (name != "sgc" && name != "sign") options.layers = 3;
    if (name == "sgc" || name == "sign" || name == "appnp") options.hops = 2;
    if (name == "gat" || name == "gatv2") options.attention_dropout = 0.3;
    for (const bool directed : {false, true}) check_same_bits(options, directed, !directed);
  }
  for (const char* norm : {"batch", "layer", "l2"}) {
    check_same_bits({.model = "sage", .layers = 3, .hidden = 8, .norm = norm}, true, false);
  }
  for (const char* jumping : {"cat", "max"}) {
    check_same_bits({.model = "gcn", .layers = 3, .hidden = 8, .jumping = jumping}, true, false);
  }
  for (const char* aggregator : {"sum", "max", "pool"}) {
    check_same_bits({.model = "sage", .layers = 3, .hidden = 8, .aggregator = aggregator}, true, false);
  }
  check_same_bits({.model = "gcn", .layers = 4, .hidden = 8, .residual = "linear"}, false, false);
}
