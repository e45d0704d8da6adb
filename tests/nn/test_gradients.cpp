// Central differences in double for every operation, through small programs that end in the loss.

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "halo/base/counter_rng.hpp"
#include "halo/graph/csr.hpp"
#include "halo/nn/executor.hpp"
#include "halo/nn/models.hpp"
#include "halo/nn/passes.hpp"

namespace nn = halo::nn;
using halo::NodeId;

namespace {

constexpr std::int64_t kNodes = 23;
constexpr std::int64_t kFeatures = 5;
constexpr std::int64_t kClasses = 3;

/// A random directed graph with weights, loops, isolated nodes and nodes without in- or out-edges.
halo::graph::LocalGraph directed_graph(bool weighted) {
  halo::RandomStream random(11);
  std::vector<NodeId> sources;
  std::vector<NodeId> targets;
  std::vector<float> weights;
  for (int e = 0; e < 70; ++e) {
    sources.push_back(static_cast<NodeId>(random.below(kNodes - 3)));
    targets.push_back(static_cast<NodeId>(random.below(kNodes - 6)) + 2);
    weights.push_back(static_cast<float>(0.5 + random.uniform()));
  }
  if (!weighted) weights.clear();
  return halo::graph::whole_graph(halo::graph::build_in_edges(kNodes, sources, targets, weights), 4, 2);
}

nn::Targets targets() {
  nn::Targets targets;
  for (auto& rows : targets.rows) rows.assign(kNodes, 0);
  for (std::int64_t i = 0; i < kNodes; ++i) {
    targets.labels.push_back(static_cast<std::int32_t>(i % (kClasses + 1)) - 1);
    const bool train = targets.labels.back() >= 0 && i % 2 == 0;
    targets.rows[0][static_cast<std::size_t>(i)] = train ? 1 : 0;
    targets.global_count[0] += train ? 1 : 0;
  }
  targets.global_count[1] = targets.global_count[2] = 1;
  return targets;
}

void check_gradient(const nn::Program& model, bool weighted) {
  const halo::graph::LocalGraph graph = directed_graph(weighted);
  halo::RandomStream random(3);
  std::vector<double> features(kNodes * kFeatures);
  for (double& x : features) x = random.normal();
  nn::SoloExchange<double> alone;
  nn::Executor<double> executor(graph, {features.data(), kNodes, kFeatures}, targets(),
                                nn::make_schedules(model, graph), alone, 1);
  executor.fold_constants();
  std::vector<double> parameters(static_cast<std::size_t>(model.parameter_count()));
  for (double& p : parameters) p = 0.5 * random.normal();  // biases too, so that none sits on a kink
  std::vector<double> gradient(parameters.size());
  std::vector<double> ignored(parameters.size());
  executor.train(parameters, 5, 7, gradient);
  constexpr double kStep = 1e-5;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const double kept = parameters[k];
    parameters[k] = kept + kStep;
    const double above = executor.train(parameters, 5, 7, ignored);
    parameters[k] = kept - kStep;
    const double below = executor.train(parameters, 5, 7, ignored);
    parameters[k] = kept;
    CHECK(gradient[k] == doctest::Approx((above - below) / (2 * kStep)).epsilon(1e-6).scale(0.01));
  }
}

/// input -> body -> classes by a last product, so that every body's output matters.
nn::Program program_with(const std::function<nn::ValueId(nn::Program&, nn::ValueId)>& body) {
  nn::Program program;
  const nn::ValueId x = program.input(kFeatures);
  const nn::ParameterId first = program.add_parameter("first", kFeatures, 4, 0, false);
  const nn::ValueId y = body(program, program.linear(x, first));
  const nn::ParameterId last = program.add_parameter("last", program.cols(y), kClasses, 1, false);
  program.logits = program.linear(y, last);
  return program;
}

}  // namespace

TEST_CASE("gradient of the linear operation, with and without bias") {
  check_gradient(program_with([](nn::Program& program, nn::ValueId x) {
                   const nn::ParameterId w = program.add_parameter("w", 4, 6, 0, false);
                   const nn::ParameterId b = program.add_parameter("b", 1, 6, 0, true);
                   return program.linear(x, w, b);
                 }),
                 false);
}

TEST_CASE("gradient of add_bias, relu, and of a value that is used twice") {
  check_gradient(program_with([](nn::Program& program, nn::ValueId x) {
                   const nn::ParameterId b = program.add_parameter("b", 1, 4, 0, true);
                   const nn::ValueId y = program.relu(program.add_bias(x, b));
                   return program.add(y, program.add(x, y));
                 }),
                 false);
}

TEST_CASE("gradient of dropout, alone and behind relu") {
  check_gradient(program_with([](nn::Program& program, nn::ValueId x) {
                   return program.dropout(program.relu(program.dropout(x, 0.4, 1)), 0.3, 2);
                 }),
                 false);
}

TEST_CASE("gradient of the aggregations on a directed graph, weighted and not") {
  for (const bool weighted : {false, true}) {
    for (const nn::Aggregation kind : {nn::Aggregation::kGcn, nn::Aggregation::kMean}) {
      check_gradient(program_with([kind](nn::Program& program, nn::ValueId x) {
                       return program.aggregate(program.relu(program.aggregate(x, kind)), kind);
                     }),
                     weighted);
    }
  }
}

TEST_CASE("gradient of whole models") {
  for (const char* name : {"gcn", "sage", "mlp"}) {
    CAPTURE(name);
    check_gradient(
        nn::build_model({.model = name, .layers = 3, .hidden = 4, .dropout = 0.2, .input_dropout = 0.2},
                        kFeatures, kClasses),
        true);
    check_gradient(
        nn::build_model({.model = name, .layers = 2, .hidden = 7, .dropout = 0.0}, kFeatures, kClasses),
        false);
  }
}
