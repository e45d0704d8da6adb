// What a step does to parameters and learnt rows when the gradient is zero: weight decay alone.

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "halo/graph/csr.hpp"
#include "halo/nn/models.hpp"
#include "training_state.hpp"

namespace halo::train {
namespace {

graph::LocalGraph small_graph() {
  return graph::whole_graph(graph::build_in_edges(5, std::vector<NodeId>{0, 1}, std::vector<NodeId>{1, 0}), 2,
                            2);
}

TrainOptions options_of(const std::string& model) {
  TrainOptions options;
  options.model = {.model = model, .layers = 2, .hidden = 4};
  options.optimizer = {.name = "adamw", .learning_rate = 0.1, .weight_decay = 0.5};
  return options;
}

/// Checks that a step with no gradient leaves `left(parameter)` of each number.
template <typename Left>
void check_decay(const TrainOptions& options, const Left& left) {
  const nn::Program model = nn::build_model(options.model, 3, 2);
  const graph::LocalGraph graph = small_graph();
  TrainingState state(model, graph, options);
  const std::vector<float> before = state.parameters;
  state.step(std::vector<float>(before.size(), 0.0F), 0.1);
  for (const nn::Parameter& parameter : model.parameters) {
    CAPTURE(parameter.name);
    for (std::int64_t k = parameter.offset; k < parameter.offset + parameter.size(); ++k) {
      const auto number = static_cast<std::size_t>(k);
      CHECK(state.parameters[number] ==
            doctest::Approx(static_cast<double>(before[number]) * left(parameter)).epsilon(1e-6));
    }
  }
}

}  // namespace

TEST_CASE("weight decay: everywhere, on the first layer, another one outside of graph layers") {
  TrainOptions options = options_of("gcnii");
  check_decay(options, [](const nn::Parameter&) { return 1.0 - 0.1 * 0.5; });
  options.dense_weight_decay = 0.2;
  check_decay(options, [](const nn::Parameter& parameter) {
    return parameter.name.starts_with("convs.") ? 1.0 - 0.1 * 0.5 : 1.0 - 0.1 * 0.2;
  });
  options.dense_weight_decay = 0.0;
  check_decay(options, [](const nn::Parameter& parameter) {
    return parameter.name.starts_with("convs.") ? 1.0 - 0.1 * 0.5 : 1.0;
  });
  options = options_of("gcn");
  options.decay_first_layer_only = true;
  check_decay(options, [](const nn::Parameter& parameter) { return parameter.layer == 0 ? 0.95 : 1.0; });
}

TEST_CASE("running statistics of batch norm are no weights: they do not decay") {
  TrainOptions options = options_of("gcn");
  options.model.norm = "batch";
  check_decay(options, [](const nn::Parameter& parameter) { return parameter.learnt ? 0.95 : 1.0; });
}

TEST_CASE("learnt rows start by seed and original id, decay, and come back as the best") {
  const graph::LocalGraph graph = small_graph();
  TrainOptions options = options_of("sage");
  options.model.embedding = 6;
  const nn::Program model = nn::build_model(options.model, 3, 2);
  TrainingState state(model, graph, options);
  const std::vector<float> first(state.embedding.values().begin(), state.embedding.values().end());
  CHECK(first.size() == 30);
  graph::LocalGraph renamed = small_graph();
  std::swap(renamed.original_id[0], renamed.original_id[3]);
  TrainingState other(model, renamed, options);
  CHECK(other.embedding.values()[0] == first[18]);
  CHECK(other.embedding.values()[18] == first[0]);
  state.embedding.keep_best();
  state.step(std::vector<float>(state.parameters.size(), 0.0F), 0.1);
  CHECK(state.embedding.values()[7] == doctest::Approx(static_cast<double>(first[7]) * 0.95).epsilon(1e-6));
  state.embedding.restore_best();
  CHECK(std::vector<float>(state.embedding.values().begin(), state.embedding.values().end()) == first);
}

TEST_CASE("an evaluation without a figure is kept, survives a checkpoint, and any figure beats it") {
  TrainOptions options;
  options.best_weights = true;
  const double none = std::numeric_limits<double>::quiet_NaN();
  BestWeights best(options);
  best.judge(1, {.loss = {0.0, none, 0.0}, .metrics = {}}, std::vector<float>{1.0F});
  CHECK(best.epoch() == 1);
  BestWeights resumed(options);
  resumed.set_state(nlohmann::json::parse(best.state().dump()), 1);
  CHECK(resumed.epoch() == 1);
  resumed.judge(2, {.loss = {0.0, none, 0.0}, .metrics = {}}, std::vector<float>{2.0F});
  CHECK(resumed.epoch() == 1);
  resumed.judge(3, {.loss = {0.0, 5.0, 0.0}, .metrics = {}}, std::vector<float>{3.0F});
  CHECK(resumed.epoch() == 3);
  CHECK(resumed.parameters()[0] == 3.0F);
}

TEST_CASE("of loss and metric both: kept where both are as good as ever, patience from where one was") {
  TrainOptions options;
  options.patience = 2;
  options.select = Selection::kBoth;
  BestWeights best(options);
  const auto judge = [&](std::int64_t epoch, double loss, double accuracy) {
    const Metric metric = {.name = "accuracy", .value = {0.0, accuracy, 0.0}, .higher_is_better = true};
    best.judge(epoch, {.loss = {0.0, loss, 0.0}, .metrics = {metric}}, std::vector<float>{1.0F});
    BestWeights resumed(options);
    resumed.set_state(nlohmann::json::parse(best.state().dump()), 1);
    best = resumed;
  };
  judge(1, 2.0, 0.5);
  judge(2, 1.0, 0.4);  // the loss alone: patience begins anew, the weights stay
  CHECK(best.epoch() == 1);
  judge(3, 1.5, 0.6);  // better than epoch 1 in both, but the loss was lower once
  CHECK(best.epoch() == 1);
  CHECK(!best.out_of_patience());
  judge(4, 1.0, 0.6);  // as good as ever
  CHECK(best.epoch() == 4);
  judge(5, 1.1, 0.5);
  CHECK(!best.out_of_patience());
  judge(6, 1.1, 0.5);
  CHECK(best.out_of_patience());
  CHECK(best.epoch() == 4);
}

}  // namespace halo::train
