#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gradient_check.hpp"
#include "halo/nn/models.hpp"
#include "halo/nn/schedule.hpp"

namespace nn = halo::nn;
using halo::at;
using halo::test::kClasses;
using halo::test::kFeatures;

namespace {

/// Operations of the schedule by stage, without those of constants.
using Names = std::vector<std::vector<std::string>>;
Names stages_of(const nn::Schedule& schedule) {
  Names names;
  for (const nn::Stage& stage : schedule.stages) {
    names.emplace_back();
    for (const std::int32_t position : stage.operations) {
      names.back().push_back(nn::describe(schedule.program.operations[at(position)].kind));
    }
  }
  return names;
}

nn::Schedule inference_schedule(const nn::Program& model) {
  return nn::make_schedule(nn::inference_program(model, model.logits), {.owned = 10, .tile = 5});
}

int kept_values(const nn::Schedule& schedule) {
  return static_cast<int>(
      std::ranges::count(schedule.placements, nn::Memory::kArena, &nn::Placement::memory));
}

}  // namespace

TEST_CASE("a cheap result is made again in a later stage if all it reads is there anyway") {
  nn::Program model;
  const nn::ValueId x = model.input(kFeatures);
  const nn::ValueId product = model.linear(x, model.add_weight("w", kFeatures, 4, 0));  // is gathered
  const nn::ValueId biased = model.add_bias(product, model.add_vector("b", 4, 0));
  const nn::ValueId d = model.activation(biased, nn::ActivationKind::kElu);
  const nn::ValueId here = model.relu(model.linear(d, model.add_weight("v", 4, 4, 0)));  // product not kept
  const nn::ValueId sum = model.aggregate(product, nn::Aggregation::kSum);
  model.logits = model.add(model.add(sum, d), here);
  const Names names = stages_of(inference_schedule(model));
  REQUIRE(names.size() == 2);
  CHECK(names[0] == std::vector<std::string>{"linear", "add_bias", "activation(elu)", "linear", "relu"});
  CHECK(names[1] == std::vector<std::string>{"neighbour_sum(in, no loop, 1)", "add_bias", "activation(elu)",
                                             "add", "add"});
}

TEST_CASE("a result is kept where making it again would keep something else longer") {
  nn::Program model;
  const nn::ValueId x = model.input(kFeatures);
  const nn::ValueId product = model.linear(x, model.add_weight("w", kFeatures, 4, 0));
  const nn::ValueId d = model.relu(product);  // nobody else reads the product
  const nn::ValueId sum = model.aggregate(d, nn::Aggregation::kSum);
  model.logits = model.add(sum, d);
  const Names names = stages_of(inference_schedule(model));
  REQUIRE(names.size() == 2);
  CHECK(names[1] == std::vector<std::string>{"neighbour_sum(in, no loop, 1)", "add"});
}

TEST_CASE("of a value that is scaled for a gather only the scaled rows are kept") {
  const nn::ModelOptions options{.model = "gcn", .layers = 3, .hidden = 16, .dropout = 0.0};
  const nn::Schedule schedule = nn::make_schedule(
      nn::train_program(nn::build_model(options, kFeatures, kClasses)), {.owned = 100, .tile = 10});
  // Forward: activations of two layers, the first ones scaled, and scaled scores; backward: two gradients.
  CHECK(kept_values(schedule) == 5);
  const Names names = stages_of(schedule);
  CHECK(std::ranges::count(names.back(), "scale_rows(by inverse gcn)") == 1);
}

TEST_CASE("GAT keeps one row per layer between attention and the next product") {
  const nn::ModelOptions options{.model = "gat", .layers = 3, .hidden = 8, .dropout = 0.5, .heads = 2};
  const Names names = stages_of(nn::make_schedule(
      nn::train_program(nn::build_model(options, kFeatures, kClasses)), {.owned = 100, .tile = 10}));
  for (const std::size_t stage : {names.size() - 3, names.size() - 2}) {
    CHECK(std::ranges::count(names[stage], "add_bias") == 1);
    CHECK(std::ranges::count(names[stage], "relu_dropout(0.5)") == 1);
    CHECK(std::ranges::count(names[stage], "linear") == 1);  // z, again
    CHECK(std::ranges::count(names[stage], "attention_scores") == 1);
  }
  CHECK(std::ranges::count(names.back(), "attention_scores") == 1);
}

TEST_CASE("GAT keeps the product of many columns, and makes that of up to 256 again") {
  const nn::ModelOptions options{.model = "gat", .layers = 2, .hidden = 8, .dropout = 0.0, .heads = 2};
  for (const std::int64_t features : {256, 257}) {
    CAPTURE(features);
    const Names names = stages_of(nn::make_schedule(
        nn::train_program(nn::build_model(options, features, kClasses)), {.owned = 100, .tile = 10}));
    const int again = features <= 256 ? 1 : 0;
    CHECK(std::ranges::count(names.back(), "linear") == again);
    CHECK(std::ranges::count(names.back(), "attention_scores") == again);
  }
}

TEST_CASE("what was scaled can be had back on rows whose weights sum to nothing or less") {
  halo::test::Variation variation;
  variation.prepare = [](halo::graph::LocalGraph& graph) {
    REQUIRE(graph.in.indptr[6] < graph.in.indptr[7]);  // rows with edges
    REQUIRE(graph.in.indptr[7] < graph.in.indptr[8]);
    graph.in_degree[6] = -graph.loop_to_add[6];  // cancels, with the loop of GCN too
    graph.in_degree[7] = -2.5;
    graph.in_degree[8] = 0.0;
  };
  for (const char* model : {"gcn", "sage"}) {
    const nn::ModelOptions options{.model = model, .layers = 3, .hidden = 4, .dropout = 0.2};
    halo::test::check_gradient(nn::build_model(options, kFeatures, kClasses), variation);
  }
}
