#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "halo/base/counter_rng.hpp"
#include "halo/graph/csr.hpp"
#include "halo/nn/executor.hpp"
#include "halo/nn/passes.hpp"

// Central differences in double, through small programs that end in the loss.
namespace halo::test {

inline constexpr std::int64_t kNodes = 23;
inline constexpr std::int64_t kFeatures = 5;
inline constexpr std::int64_t kClasses = 3;

/// A random directed graph with weights, loops, isolated nodes and nodes without in- or out-edges.
inline graph::LocalGraph directed_graph(bool weighted) {
  RandomStream random(11);
  std::vector<NodeId> sources;
  std::vector<NodeId> targets;
  std::vector<float> weights;
  for (int e = 0; e < 70; ++e) {
    sources.push_back(static_cast<NodeId>(random.below(kNodes - 3)));
    targets.push_back(static_cast<NodeId>(random.below(kNodes - 6)) + 2);
    weights.push_back(static_cast<float>(0.5 + random.uniform()));
  }
  if (!weighted) weights.clear();
  return graph::whole_graph(graph::build_in_edges(kNodes, sources, targets, weights), 4, 2);
}

inline nn::Targets targets() {
  nn::Targets targets;
  targets.cols = kClasses;
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

/// `change` may make the targets another task, `prepare` may change the graph.
struct Variation {
  bool weighted = false;
  std::function<void(nn::Targets&)> change = [](nn::Targets&) {};
  std::function<void(graph::LocalGraph&)> prepare = [](graph::LocalGraph&) {};
};

inline void check_gradient(const nn::Program& model, const Variation& variation) {
  graph::LocalGraph graph = directed_graph(variation.weighted);
  variation.prepare(graph);
  nn::Targets wanted = targets();
  variation.change(wanted);
  RandomStream random(3);
  std::vector<double> features(kNodes * kFeatures);
  for (double& x : features) x = random.normal();
  nn::SoloExchange<double> alone;
  nn::Executor<double> executor(graph, {features.data(), kNodes, kFeatures}, wanted,
                                nn::make_schedules(model, graph), alone, 1);
  executor.fold_constants();
  std::vector<double> parameters(static_cast<std::size_t>(model.parameter_count()));
  for (double& p : parameters) p = 0.5 * random.normal();  // biases too, so that none sits on a kink
  std::vector<double> gradient(parameters.size());
  std::vector<double> ignored(parameters.size());
  executor.train(parameters, 5, 7, gradient);
  constexpr double kStep = 1e-5;
  for (std::size_t k = 0; k < static_cast<std::size_t>(model.learnt_count()); ++k) {
    const double kept = parameters[k];
    parameters[k] = kept + kStep;
    const double above = executor.train(parameters, 5, 7, ignored);
    parameters[k] = kept - kStep;
    const double below = executor.train(parameters, 5, 7, ignored);
    parameters[k] = kept;
    CHECK(gradient[k] == doctest::Approx((above - below) / (2 * kStep)).epsilon(1e-6).scale(0.01));
  }
}

inline void check_gradient(const nn::Program& model, bool weighted) {
  Variation variation;
  variation.weighted = weighted;
  check_gradient(model, variation);
}

/// input -> body -> classes by a last product, so that every body's output matters.
inline nn::Program program_with(const std::function<nn::ValueId(nn::Program&, nn::ValueId)>& body) {
  nn::Program program;
  const nn::ValueId x = program.input(kFeatures);
  const nn::ParameterId first = program.add_weight("first", kFeatures, 4, 0);
  const nn::ValueId y = body(program, program.linear(x, first));
  const nn::ParameterId last = program.add_weight("last", program.cols(y), kClasses, 1);
  program.logits = program.linear(y, last);
  return program;
}

}  // namespace halo::test
