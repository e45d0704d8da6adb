// Logits, loss, every gradient and ten losses against the PyTorch reference in data/ (README.md says how it
// was made).

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "halo/datasets/npy.hpp"
#include "halo/graph/csr.hpp"
#include "halo/nn/executor.hpp"
#include "halo/nn/models.hpp"
#include "halo/optim/optimizer.hpp"

namespace {

namespace fs = std::filesystem;
namespace nn = halo::nn;
namespace datasets = halo::datasets;
using halo::NodeId;

constexpr int kSteps = 10;

const fs::path kData = HALO_GOLDEN_DATA;

template <typename Real>
struct Case {
  halo::graph::LocalGraph graph;
  std::vector<Real> features;
  std::int64_t feature_cols = 0;
  nn::Targets targets;
};

template <typename Real>
Case<Real> load_case(const fs::path& folder) {
  const auto edges = datasets::read_npy<NodeId>(folder / "edge_index.npy");
  const auto sources = std::span(edges).first(edges.size() / 2);
  const auto targets = std::span(edges).last(edges.size() / 2);
  std::vector<float> weights;
  if (fs::exists(folder / "edge_weight.npy")) weights = datasets::read_npy<float>(folder / "edge_weight.npy");
  Case<Real> loaded;
  loaded.targets.cols = 3;
  loaded.targets.labels = datasets::read_npy<std::int32_t>(folder / "labels.npy");
  const std::size_t nodes = loaded.targets.labels.size();
  loaded.graph = halo::graph::whole_graph(
      halo::graph::build_in_edges(static_cast<NodeId>(nodes), sources, targets, weights), 8, 2);
  loaded.features = datasets::read_npy<Real>(folder / "features.npy");
  loaded.feature_cols = static_cast<std::int64_t>(loaded.features.size() / nodes);
  const char* files[] = {"train_idx.npy", "val_idx.npy", "test_idx.npy"};
  for (std::size_t split = 0; split < 3; ++split) {
    loaded.targets.rows[split].assign(nodes, 0);
    for (const auto id : datasets::read_npy<NodeId>(folder / files[split])) {
      loaded.targets.rows[split][static_cast<std::size_t>(id)] = 1;
      ++loaded.targets.global_count[split];
    }
  }
  return loaded;
}

/// "param_convs.0.lin.weight.npy"
fs::path file_of(const fs::path& folder, const std::string& prefix, const std::string& name) {
  return folder / fmt::format("{}_{}.npy", prefix, name);
}

template <typename Real>
void check_close(std::span<const Real> found, const std::vector<double>& expected, double tolerance) {
  REQUIRE(found.size() == expected.size());
  double scale = 0.0;
  for (const double value : expected) scale = std::max(scale, std::abs(value));
  for (std::size_t k = 0; k < found.size(); ++k) {
    CAPTURE(k);
    CHECK(std::abs(static_cast<double>(found[k]) - expected[k]) <=
          tolerance * (std::abs(expected[k]) + 0.1 * scale));
  }
}

template <typename Real>
void check_losses(nn::Executor<Real>& executor, std::vector<Real> parameters, const fs::path& expected_file,
                  const halo::optim::OptimizerOptions& options, double tolerance) {
  const auto expected = datasets::read_npy<double>(expected_file);
  REQUIRE(expected.size() == kSteps);
  const auto size = static_cast<std::int64_t>(parameters.size());
  const auto optimizer = halo::optim::make_optimizer<Real>(options, size, {{0, size}});
  std::vector<Real> gradient(parameters.size());
  for (int step = 0; step < kSteps; ++step) {
    CAPTURE(step);
    const double loss = executor.train(parameters, 1, static_cast<std::uint64_t>(step), gradient);
    CHECK(loss == doctest::Approx(expected[static_cast<std::size_t>(step)]).epsilon(tolerance));
    optimizer->step(parameters, gradient, options.learning_rate);
  }
}

template <typename Real>
void check_model(const std::string& case_name, const std::string& model_name, double tolerance) {
  CAPTURE(case_name);
  CAPTURE(model_name);
  const Case<Real> loaded = load_case<Real>(kData / case_name);
  const fs::path folder = kData / case_name / model_name;
  const nn::Program model = nn::build_model({.model = model_name, .layers = 3, .hidden = 8, .dropout = 0.0},
                                            loaded.feature_cols, 3);
  std::vector<Real> parameters(static_cast<std::size_t>(model.parameter_count()));
  for (std::size_t p = 0; p < model.parameters.size(); ++p) {
    const auto values = datasets::read_npy<Real>(file_of(folder, "param", model.parameters[p].name));
    REQUIRE(static_cast<std::int64_t>(values.size()) == model.parameters[p].size());
    std::copy(values.begin(), values.end(), parameters.begin() + model.parameters[p].offset);
  }
  nn::SoloExchange<Real> alone;
  nn::Executor<Real> executor(loaded.graph, {loaded.features.data(), loaded.graph.owned, loaded.feature_cols},
                              loaded.targets, nn::make_schedules(model, loaded.graph), alone, 2);
  executor.fold_constants();

  executor.evaluate(parameters);
  const auto logits = executor.logits();
  check_close<Real>({logits.data, static_cast<std::size_t>(logits.rows * logits.cols)},
                    datasets::read_npy<double>(folder / "logits.npy"), tolerance);

  std::vector<Real> gradient(parameters.size());
  const double loss = executor.train(parameters, 1, 1, gradient);
  CHECK(loss == doctest::Approx(datasets::read_npy<double>(folder / "loss.npy").front()).epsilon(tolerance));
  for (std::size_t p = 0; p < model.parameters.size(); ++p) {
    const nn::Parameter& parameter = model.parameters[p];
    CAPTURE(parameter.name);
    check_close<Real>(std::span<const Real>(gradient).subspan(static_cast<std::size_t>(parameter.offset),
                                                              static_cast<std::size_t>(parameter.size())),
                      datasets::read_npy<double>(file_of(folder, "grad", parameter.name)), tolerance);
  }
  check_losses(executor, parameters, folder / "adam_losses.npy",
               {.name = "adam", .learning_rate = 0.01, .weight_decay = 5e-4}, tolerance);
  check_losses(executor, parameters, folder / "sgd_losses.npy",
               {.name = "sgd", .learning_rate = 0.1, .weight_decay = 5e-4}, tolerance);
}

}  // namespace

TEST_CASE("golden: double precision agrees with PyTorch to 1e-10") {
  for (const char* data : {"directed_weighted", "symmetric_unweighted"}) {
    for (const char* model : {"gcn", "sage", "mlp"}) check_model<double>(data, model, 1e-10);
  }
}

TEST_CASE("golden: single precision agrees with PyTorch's double precision to 1e-5") {
  for (const char* data : {"directed_weighted", "symmetric_unweighted"}) {
    for (const char* model : {"gcn", "sage", "mlp"}) check_model<float>(data, model, 1e-5);
  }
}
