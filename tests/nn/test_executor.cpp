// Small cases by hand, and the same bits on any number of threads and from any cut into groups by other
// ranks' sums.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "halo/base/counter_rng.hpp"
#include "halo/graph/csr.hpp"
#include "halo/nn/executor.hpp"
#include "halo/nn/models.hpp"

namespace nn = halo::nn;
using halo::NodeId;

namespace {

struct Problem {
  halo::graph::LocalGraph graph;
  std::vector<float> features;
  nn::Targets targets;
};

Problem random_problem(std::int64_t nodes, std::int64_t features) {
  halo::RandomStream random(2);
  std::vector<NodeId> sources;
  std::vector<NodeId> targets;
  for (std::int64_t e = 0; e < 4 * nodes; ++e) {
    sources.push_back(static_cast<NodeId>(random.below(static_cast<std::uint64_t>(nodes))));
    targets.push_back(static_cast<NodeId>(random.below(static_cast<std::uint64_t>(nodes))));
  }
  Problem problem{
      .graph = halo::graph::whole_graph(halo::graph::build_in_edges(nodes, sources, targets), 16, 3),
      .features = {},
      .targets = {}};
  problem.targets.cols = 4;
  for (std::int64_t k = 0; k < nodes * features; ++k)
    problem.features.push_back(static_cast<float>(random.normal()));
  for (auto& rows : problem.targets.rows) rows.assign(static_cast<std::size_t>(nodes), 0);
  for (std::int64_t i = 0; i < nodes; ++i) {
    problem.targets.labels.push_back(static_cast<std::int32_t>(random.below(4)));
    const auto split = static_cast<std::size_t>(i % 3);
    problem.targets.rows[split][static_cast<std::size_t>(i)] = 1;
    ++problem.targets.global_count[split];
  }
  return problem;
}

struct Result {
  double loss = 0.0;
  std::vector<float> gradient;
  std::vector<std::int32_t> predictions;
  nn::Scores scores;
};

Result run(const Problem& problem, const nn::Program& model, std::int64_t features, int threads) {
  nn::SoloExchange<float> alone;
  nn::Executor<float> executor(problem.graph, {problem.features.data(), problem.graph.owned, features},
                               problem.targets, nn::make_schedules(model, problem.graph), alone, threads);
  executor.fold_constants();
  std::vector<float> parameters(static_cast<std::size_t>(model.parameter_count()));
  nn::initialise_parameters(model, 1, parameters.data());
  Result result;
  result.gradient.resize(parameters.size());
  result.loss = executor.train(parameters, 1, 1, result.gradient);
  result.scores = executor.evaluate(parameters);
  result.predictions.assign(executor.predictions().begin(), executor.predictions().end());
  return result;
}

/// Keeps what its rank has summed.
class RecordingExchange final : public nn::Exchange<double> {
 public:
  void start(nn::Direction, std::int8_t, halo::MatrixView<double>) override {}
  void poke() override {}
  void finish() override {}
  void sum(std::span<std::int64_t> values) override { sums.emplace_back(values.begin(), values.end()); }
  std::vector<std::vector<std::int64_t>> sums{};
};

/// Adds what another rank has kept.
class ReplayingExchange final : public nn::Exchange<double> {
 public:
  explicit ReplayingExchange(std::vector<std::vector<std::int64_t>> sums) : sums_(std::move(sums)) {}
  void start(nn::Direction, std::int8_t, halo::MatrixView<double>) override {}
  void poke() override {}
  void finish() override {}
  void sum(std::span<std::int64_t> values) override {
    REQUIRE(next_ < sums_.size());
    REQUIRE(values.size() == sums_[next_].size());
    for (std::size_t k = 0; k < values.size(); ++k) values[k] += sums_[next_][k];
    ++next_;
  }

 private:
  std::vector<std::vector<std::int64_t>> sums_;
  std::size_t next_ = 0;
};

/// One epoch on a graph; returns the parameters, whose running statistics have moved, and the gradient.
std::vector<double> train_once(const halo::graph::LocalGraph& graph, const nn::Program& model,
                               const std::vector<double>& features, const nn::Targets& targets,
                               nn::Exchange<double>& exchange) {
  const auto cols = static_cast<std::int64_t>(2);
  nn::Executor<double> executor(graph, {features.data(), graph.owned, cols}, targets,
                                nn::make_schedules(model, graph), exchange, 1);
  executor.fold_constants();
  std::vector<double> parameters(static_cast<std::size_t>(model.parameter_count()));
  nn::initialise_parameters(model, 1, parameters.data());
  std::vector<double> gradient(parameters.size());
  executor.train(parameters, 1, 1, gradient);
  parameters.insert(parameters.end(), gradient.begin(), gradient.end());
  return parameters;
}

}  // namespace

TEST_CASE("one GCN layer on a path of three nodes, by hand") {
  // 0 - 1 - 2, x = (1, 2, 4), W = (1, -1): logits = A x W with A = D^-1/2 (A + I) D^-1/2, degrees with loops
  // 2, 3, 2.
  const halo::graph::Csr csr =
      halo::graph::build_in_edges(3, std::vector<NodeId>{0, 1, 1, 2}, std::vector<NodeId>{1, 0, 2, 1});
  const halo::graph::LocalGraph graph = halo::graph::whole_graph(csr, 2, 1);
  const std::vector<double> features = {1.0, 2.0, 4.0};
  nn::Targets targets;
  targets.cols = 2;
  targets.labels = {0, 1, 0};
  targets.global_count = {1, 1, 1};
  targets.rows = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const nn::Program model = nn::build_model({.model = "gcn", .layers = 1}, 1, 2);
  nn::SoloExchange<double> alone;
  nn::Executor<double> executor(graph, {features.data(), 3, 1}, targets, nn::make_schedules(model, graph),
                                alone, 1);
  executor.fold_constants();
  std::vector<double> parameters = {1.0, -1.0, 0.0, 0.0};
  const nn::Scores scores = executor.evaluate(parameters);
  const double y0 = 1.0 / 2 + 2.0 / std::sqrt(6.0);
  const double y1 = 1.0 / std::sqrt(6.0) + 2.0 / 3 + 4.0 / std::sqrt(6.0);
  CHECK(executor.logits()(0, 0) == doctest::Approx(y0));
  CHECK(executor.logits()(0, 1) == doctest::Approx(-y0));
  CHECK(executor.logits()(1, 0) == doctest::Approx(y1));
  CHECK(scores.loss[0] == doctest::Approx(std::log1p(std::exp(-2 * y0))));
  CHECK(scores.loss[1] == doctest::Approx(std::log1p(std::exp(2 * y1))));
  CHECK(scores.accuracy[0] == 1.0);
  CHECK(scores.accuracy[1] == 0.0);
  CHECK(executor.predictions()[2] == 0);
  std::vector<double> gradient(4);
  CHECK(executor.train(parameters, 0, 0, gradient) == doctest::Approx(scores.loss[0]));
  const double p1 = 1.0 / (1.0 + std::exp(2 * y0));  // softmax of the wrong class
  CHECK(gradient[2] == doctest::Approx(-p1));
  CHECK(gradient[3] == doctest::Approx(p1));
  CHECK(gradient[0] == doctest::Approx(-p1 * y0));
}

TEST_CASE("threads change no bit") {
  const Problem problem = random_problem(500, 9);
  for (const char* name : {"gcn", "sage", "mlp"}) {
    CAPTURE(name);
    const nn::Program model = nn::build_model(
        {.model = name, .layers = 3, .hidden = 12, .dropout = 0.5, .input_dropout = 0.3}, 9, 4);
    const Result one = run(problem, model, 9, 1);
    for (const int threads : {2, 3}) {
      const Result many = run(problem, model, 9, threads);
      CHECK(many.loss == one.loss);
      CHECK(many.gradient == one.gradient);
      CHECK(many.predictions == one.predictions);
      CHECK(many.scores.loss == one.scores.loss);
      CHECK(many.scores.accuracy == one.scores.accuracy);
    }
  }
}

TEST_CASE("another epoch draws other dropout masks") {
  const Problem problem = random_problem(100, 6);
  const nn::Program model = nn::build_model({.model = "gcn", .layers = 2, .hidden = 8, .dropout = 0.5}, 6, 4);
  nn::SoloExchange<float> alone;
  nn::Executor<float> executor(problem.graph, {problem.features.data(), 100, 6}, problem.targets,
                               nn::make_schedules(model, problem.graph), alone, 1);
  executor.fold_constants();
  std::vector<float> parameters(static_cast<std::size_t>(model.parameter_count()));
  nn::initialise_parameters(model, 1, parameters.data());
  std::vector<float> gradient(parameters.size());
  const double first = executor.train(parameters, 1, 1, gradient);
  CHECK(executor.train(parameters, 1, 2, gradient) != first);
  CHECK(executor.train(parameters, 2, 1, gradient) != first);
  CHECK(executor.train(parameters, 1, 1, gradient) == first);
}

TEST_CASE("a graph without nodes runs and sums nothing") {
  const halo::graph::LocalGraph graph = halo::graph::whole_graph(halo::graph::Csr{}, 4, 4);
  const nn::Program model = nn::build_model({.model = "sage", .layers = 2, .hidden = 4}, 3, 2);
  nn::Targets targets;
  targets.cols = 2;
  targets.global_count = {1, 1, 1};
  nn::SoloExchange<float> alone;
  nn::Executor<float> executor(graph, {nullptr, 0, 3}, targets, nn::make_schedules(model, graph), alone, 2);
  executor.fold_constants();
  std::vector<float> parameters(static_cast<std::size_t>(model.parameter_count()), 1.0F);
  std::vector<float> gradient(parameters.size(), 5.0F);
  CHECK(executor.train(parameters, 1, 1, gradient) == 0.0);
  CHECK(gradient == std::vector<float>(parameters.size(), 0.0F));
}

TEST_CASE("weights that are not finite give a loss that says so") {
  const Problem problem = random_problem(50, 4);
  const nn::Program model = nn::build_model({.model = "mlp", .layers = 1}, 4, 4);
  nn::SoloExchange<float> alone;
  nn::Executor<float> executor(problem.graph, {problem.features.data(), 50, 4}, problem.targets,
                               nn::make_schedules(model, problem.graph), alone, 1);
  std::vector<float> parameters(static_cast<std::size_t>(model.parameter_count()),
                                std::numeric_limits<float>::infinity());
  std::vector<float> gradient(parameters.size());
  CHECK(std::isnan(executor.train(parameters, 1, 1, gradient)));
}

TEST_CASE("a rank without rows divides batch statistics by the active rows of the others too") {
  constexpr std::int64_t kRows = 9;
  halo::RandomStream random(8);
  std::vector<double> features(2 * kRows);
  for (double& x : features) x = random.normal();
  nn::Targets targets;
  targets.cols = 3;
  targets.global_count = {kRows, 0, 0};
  targets.rows[0].assign(kRows, 1);
  for (std::int32_t i = 0; i < kRows; ++i) targets.labels.push_back(i % 3);
  halo::graph::Csr edges;
  edges.indptr.assign(kRows + 1, 0);
  halo::graph::LocalGraph full = halo::graph::whole_graph(edges, 4, 1);
  full.active = {1, 1, 0, 0, 1, 0, 1, 0, 0};
  full.global_active = 4;
  halo::graph::LocalGraph empty = halo::graph::whole_graph(halo::graph::Csr{}, 4, 1);
  empty.global_nodes = full.global_nodes;
  empty.global_active = full.global_active;
  nn::Targets of_nobody = targets;
  of_nobody.labels.clear();
  of_nobody.rows[0].clear();

  const nn::Program model =
      nn::build_model({.model = "mlp", .hidden = 5, .dropout = 0.0, .norm = "batch"}, 2, 3);
  RecordingExchange recording;
  const std::vector<double> with_rows = train_once(full, model, features, targets, recording);
  ReplayingExchange replaying(recording.sums);
  CHECK(train_once(empty, model, {}, of_nobody, replaying) == with_rows);
}

TEST_CASE("a regression far from its targets has the right loss and errors") {
  constexpr std::int64_t kRows = 3000;  // in one group: squared errors sum to far more than 2^32
  constexpr double kError = 1e5;
  halo::graph::Csr edges;
  edges.indptr.assign(kRows + 1, 0);
  const halo::graph::LocalGraph graph = halo::graph::whole_graph(edges, kRows, 1);
  const std::vector<double> features(kRows, 1.0);
  nn::Targets targets;
  targets.cols = 1;
  targets.values.assign(kRows, 0.0F);
  for (auto& rows : targets.rows) rows.assign(kRows, 1);
  targets.global_count = {kRows, kRows, kRows};
  const nn::Program model = nn::build_model({.model = "mlp", .layers = 1}, 1, 1);
  for (const nn::Task task : {nn::Task::kSquaredError, nn::Task::kAbsoluteError}) {
    targets.task = task;
    nn::SoloExchange<double> alone;
    nn::Executor<double> executor(graph, {features.data(), kRows, 1}, targets,
                                  nn::make_schedules(model, graph), alone, 1);
    executor.fold_constants();
    std::vector<double> parameters = {kError, 0.0};
    std::vector<double> gradient(2);
    const double loss = task == nn::Task::kSquaredError ? kError * kError : kError;
    CHECK(executor.train(parameters, 1, 1, gradient) == loss);
    const nn::Scores scores = executor.evaluate(parameters);
    for (std::size_t split = 0; split < nn::kSplits; ++split) {
      CHECK(scores.loss[split] == loss);
      CHECK(scores.squared_error[split] == kError * kError);
      CHECK(scores.absolute_error[split] == kError);
      CHECK(std::isnan(scores.accuracy[split]));
    }
  }
}
