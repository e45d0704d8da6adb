#include "case_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>

#include "halo/datasets/array_folder.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/graph/csr.hpp"
#include "halo/nn/executor.hpp"

namespace halo::nn {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ModelOptions, model, layers, hidden, dropout, input_dropout,
                                                activation, norm, residual, jumping, input_linear,
                                                output_linear, aggregator, root_weight, l2_normalise, heads,
                                                output_heads, attention_dropout, negative_slope,
                                                learn_epsilon, alpha, theta, hops, embedding)
}  // namespace halo::nn

namespace halo::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kEmbedding = "embedding.weight";

nn::ModelOptions read_model(const json& options) {
  const json known = nn::ModelOptions{};
  for (const auto& item : options.items()) {
    if (!known.contains(item.key())) throw std::runtime_error("no model option " + item.key());
  }
  return options.get<nn::ModelOptions>();
}

nn::Task task_of(const std::string& name) {
  const std::map<std::string, nn::Task> tasks = {{"single_label", nn::Task::kSingleLabel},
                                                 {"multi_label", nn::Task::kMultiLabel},
                                                 {"mse", nn::Task::kSquaredError},
                                                 {"mae", nn::Task::kAbsoluteError}};
  return tasks.at(name);
}

graph::LocalGraph load_graph(const fs::path& dataset, std::size_t nodes) {
  constexpr std::int64_t kTileRows = 8;
  constexpr std::int32_t kTilesPerGroup = 2;
  const auto edges = datasets::read_npy<NodeId>(dataset / "edge_index.npy");
  std::vector<float> weights;
  if (fs::exists(dataset / "edge_weight.npy"))
    weights = datasets::read_npy<float>(dataset / "edge_weight.npy");
  const std::size_t count = edges.size() / 2;
  const graph::Csr csr = graph::build_in_edges(static_cast<NodeId>(nodes), std::span(edges).first(count),
                                               std::span(edges).last(count), weights);
  return graph::whole_graph(csr, kTileRows, kTilesPerGroup);
}

/// Labels of the case's task; the file name says which.
void load_labels(const Case& options, nn::Targets& targets) {
  if (options.task == nn::Task::kSingleLabel) {
    targets.labels = datasets::read_npy<std::int32_t>(options.dataset / "labels.npy");
  } else if (options.task == nn::Task::kMultiLabel) {
    targets.multi_labels = datasets::read_npy<std::uint8_t>(options.dataset / "multi_labels.npy");
  } else {
    targets.values = datasets::read_npy<float>(options.dataset / "values.npy");
  }
}

/// Rows of a split, or in a regression its known entries.
std::int64_t count_targets(const nn::Targets& targets, const std::vector<NodeId>& ids) {
  if (targets.values.empty()) return static_cast<std::int64_t>(ids.size());
  std::int64_t known = 0;
  for (const NodeId id : ids) {
    for (std::int64_t c = 0; c < targets.cols; ++c) {
      known += std::isnan(targets.values[static_cast<std::size_t>(id * targets.cols + c)]) ? 0 : 1;
    }
  }
  return known;
}

nn::Targets load_targets(const Case& options, std::size_t nodes) {
  nn::Targets targets;
  targets.task = options.task;
  targets.cols = options.outputs;
  targets.class_weights = options.class_weights;
  targets.label_smoothing = options.label_smoothing;
  load_labels(options, targets);
  const char* files[] = {"train_idx.npy", "val_idx.npy", "test_idx.npy"};
  for (std::size_t split = 0; split < nn::kSplits; ++split) {
    targets.rows[split].assign(nodes, 0);
    const auto ids = datasets::read_npy<NodeId>(options.dataset / files[split]);
    targets.global_count[split] = count_targets(targets, ids);
    for (const NodeId id : ids) {
      const auto row = static_cast<std::size_t>(id);
      targets.rows[split][row] = 1;
      if (targets.class_weights.empty()) continue;
      targets.global_weight[split] += targets.class_weights[static_cast<std::size_t>(targets.labels[row])];
    }
  }
  return targets;
}

/// Copies between the flat buffer's [rows x cols] and the order of a weights file.
template <typename From, typename To>
void reorder(const nn::Parameter& parameter, bool to_file, std::span<const From> from, std::span<To> to) {
  for (std::int64_t r = 0; r < parameter.rows; ++r) {
    for (std::int64_t c = 0; c < parameter.cols; ++c) {
      const auto flat = static_cast<std::size_t>(r * parameter.cols + c);
      const auto file = parameter.transpose_in_file ? static_cast<std::size_t>(c * parameter.rows + r) : flat;
      to[to_file ? file : flat] = static_cast<To>(from[to_file ? flat : file]);
    }
  }
}

template <typename Real>
std::span<Real> part_of(std::vector<Real>& flat, const nn::Parameter& parameter) {
  return std::span(flat).subspan(static_cast<std::size_t>(parameter.offset),
                                 static_cast<std::size_t>(parameter.size()));
}

template <typename Real>
std::vector<Real> load_parameters(const datasets::ArrayFolder& arrays, const nn::Program& model) {
  std::vector<Real> flat(static_cast<std::size_t>(model.parameter_count()));
  for (const nn::Parameter& parameter : model.parameters) {
    const datasets::NpyArray array = arrays.get("param." + parameter.name);
    if (array.shape() != parameter.file_shape) {
      throw std::runtime_error(fmt::format("{}: shape {}, expected {}", parameter.name,
                                           datasets::format_shape(array.shape()),
                                           datasets::format_shape(parameter.file_shape)));
    }
    const auto values = array.read<double>();
    reorder<double, Real>(parameter, false, values, part_of(flat, parameter));
  }
  return flat;
}

template <typename Real>
std::vector<double> copy_of(MatrixView<const Real> matrix) {
  return {matrix.data, matrix.data + matrix.rows * matrix.cols};
}

/// A learnt array with its gradient and the optimiser that moves it.
template <typename Real>
struct Learnt {
  Learnt(std::vector<Real> values_, std::int64_t size, const optim::OptimizerOptions& options)
      : values(std::move(values_)),
        gradient(values.size()),
        optimizer(optim::make_optimizer<Real>(options, size, {{0, size}})) {}
  void step(double learning_rate) { optimizer->step(values, gradient, learning_rate); }

  std::vector<Real> values;
  std::vector<Real> gradient;
  std::unique_ptr<optim::Optimizer<Real>> optimizer;
};

template <typename Real>
std::map<std::string, std::vector<double>> gradients_of(const nn::Program& model, Learnt<Real>& parameters) {
  std::map<std::string, std::vector<double>> gradients;
  for (const nn::Parameter& parameter : model.parameters) {
    if (!parameter.learnt) continue;
    std::vector<double>& values = gradients[parameter.name];
    values.resize(static_cast<std::size_t>(parameter.size()));
    reorder<Real, double>(parameter, true, part_of(parameters.gradient, parameter), std::span(values));
  }
  return gradients;
}

}  // namespace

Case read_case(const fs::path& folder) {
  std::ifstream file(folder / "case.json");
  const json fields = json::parse(file);
  Case read;
  read.folder = folder;
  read.dataset = folder / fields.at("dataset").get<std::string>();
  read.model = read_model(fields.at("model"));
  read.task = task_of(fields.at("task").get<std::string>());
  read.outputs = fields.at("outputs").get<std::int64_t>();
  read.class_weights = fields.at("class_weights").get<std::vector<double>>();
  read.label_smoothing = fields.at("label_smoothing").get<double>();
  read.optimizer = {.name = fields.at("optimizer").get<std::string>(),
                    .learning_rate = fields.at("learning_rate").get<double>(),
                    .weight_decay = fields.at("weight_decay").get<double>()};
  read.steps = fields.at("steps").get<int>();
  return read;
}

template <typename Real>
CaseResult run_case(const Case& options) {
  const auto features = datasets::read_npy<Real>(options.dataset / "features.npy");
  const auto nodes =
      static_cast<std::size_t>(datasets::read_npy_header(options.dataset / "features.npy").rows());
  const auto feature_cols = static_cast<std::int64_t>(features.size() / nodes);
  const graph::LocalGraph graph = load_graph(options.dataset, nodes);
  const nn::Program model = nn::build_model(options.model, feature_cols, options.outputs);
  const auto arrays = datasets::open_npz(options.folder / "arrays.npz");

  Learnt<Real> parameters(load_parameters<Real>(*arrays, model), model.learnt_count(), options.optimizer);
  const bool embeds = options.model.embedding > 0;
  std::vector<Real> rows;
  if (embeds) rows = arrays->get(std::string("param.") + kEmbedding).read<Real>();
  Learnt<Real> embedding(rows, static_cast<std::int64_t>(rows.size()), options.optimizer);

  nn::SoloExchange<Real> alone;
  nn::Executor<Real> executor(graph, {features.data(), graph.owned, feature_cols},
                              load_targets(options, nodes), nn::make_schedules(model, graph), alone, 2);
  if (embeds) {
    executor.set_embedding({.values = {embedding.values.data(), graph.owned, options.model.embedding},
                            .gradient = {embedding.gradient.data(), graph.owned, options.model.embedding}});
  }
  executor.fold_constants();

  CaseResult result;
  executor.evaluate(parameters.values);
  result.logits = copy_of<Real>(executor.logits());
  for (int step = 0; step < options.steps; ++step) {
    result.losses.push_back(
        executor.train(parameters.values, 1, static_cast<std::uint64_t>(step), parameters.gradient));
    if (step == 0) {
      result.gradients = gradients_of(model, parameters);
      if (embeds) result.gradients[kEmbedding] = {embedding.gradient.begin(), embedding.gradient.end()};
    }
    parameters.step(options.optimizer.learning_rate);
    if (embeds) embedding.step(options.optimizer.learning_rate);
  }
  result.loss = {result.losses.front()};
  executor.evaluate(parameters.values);
  result.logits_after = copy_of<Real>(executor.logits());
  return result;
}

template CaseResult run_case<float>(const Case&);
template CaseResult run_case<double>(const Case&);

}  // namespace halo::test
