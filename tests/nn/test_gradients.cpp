// Central differences in double for every operation, through small programs that end in the loss.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gradient_check.hpp"
#include "halo/nn/executor.hpp"
#include "halo/nn/models.hpp"

namespace nn = halo::nn;
namespace op = halo::nn::op;
using halo::NodeId;
using namespace halo::test;

TEST_CASE("gradient of the linear operation, with and without bias") {
  check_gradient(program_with([](nn::Program& program, nn::ValueId x) {
                   const nn::ParameterId w = program.add_weight("w", 4, 6, 0);
                   const nn::ParameterId b = program.add_vector("b", 6, 0);
                   return program.linear(x, w, b);
                 }),
                 false);
}

TEST_CASE("gradient of add_bias, relu, and of a value that is used twice") {
  check_gradient(program_with([](nn::Program& program, nn::ValueId x) {
                   const nn::ParameterId b = program.add_vector("b", 4, 0);
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

TEST_CASE("gradient of a weight and a bias that two products in a row share") {
  check_gradient(program_with([](nn::Program& program, nn::ValueId x) {
                   const nn::ParameterId w = program.add_weight("w", 4, 4, 0);
                   const nn::ParameterId b = program.add_vector("b", 4, 0);
                   return program.linear(program.relu(program.linear(x, w, b)), w, b);
                 }),
                 false);
}

TEST_CASE("gradient of whole models") {
  for (const std::string& name : nn::model_names()) {
    CAPTURE(name);
    nn::ModelOptions deep{.model = name, .hidden = 8, .input_dropout = 0.2};
    nn::ModelOptions wide{.model = name, .hidden = 16};
    if (name != "sgc") {  // reads neither
      deep.dropout = 0.2;
      wide.dropout = 0.0;
    }
    if (name != "sgc" && name != "sign") deep.layers = 3;
    check_gradient(nn::build_model(deep, kFeatures, kClasses), true);
    check_gradient(nn::build_model(wide, kFeatures, kClasses), false);
  }
}

TEST_CASE("gradient of the sum aggregation") {
  for (const bool weighted : {false, true}) {
    check_gradient(program_with([](nn::Program& program, nn::ValueId x) {
                     return program.aggregate(program.relu(program.aggregate(x, nn::Aggregation::kSum)),
                                              nn::Aggregation::kSum);
                   }),
                   weighted);
  }
}

TEST_CASE("gradient of elu and leaky relu") {
  for (const nn::ActivationKind kind : {nn::ActivationKind::kElu, nn::ActivationKind::kLeakyRelu}) {
    check_gradient(program_with([kind](nn::Program& program, nn::ValueId x) {
                     return program.activation(x, kind, 0.3);
                   }),
                   false);
  }
}

TEST_CASE("gradient of combine, concat, columns, maximum, head mean and a learnt scale") {
  check_gradient(
      program_with([](nn::Program& program, nn::ValueId x) {
        const nn::ParameterId w = program.add_weight("w", 4, 4, 0);
        const nn::ParameterId epsilon = program.add_vector("epsilon", 1, 0);
        const nn::ValueId y = program.linear(x, w);
        const nn::ValueId z = program.combine(0.3, x, -1.7, y);
        const nn::ValueId scaled = program.append(nn::op::AddScaled{.epsilon = epsilon}, {z, y}, 4);
        const nn::ValueId joined = program.concat({program.maximum({x, y, z}), scaled});
        return program.head_mean(joined, 2);
      }),
      false);
}

TEST_CASE("gradient of a fixed scale, alone and where x itself needs no gradient") {
  check_gradient(program_with([](nn::Program& program, nn::ValueId x) {
                   const nn::ParameterId epsilon = program.add_vector("epsilon", 1, 0);
                   program.parameters.back().learnt = false;
                   const nn::ParameterId w = program.add_weight("w", kFeatures, 4, 0);
                   const nn::ValueId features = program.operations.front().output;
                   const op::AddScaled fixed{.epsilon = epsilon, .learnt = false};
                   const nn::ValueId y = program.append(fixed, {program.relu(x), x}, 4);
                   const nn::ValueId z = program.append(fixed, {features, features}, kFeatures);
                   return program.add(y, program.linear(z, w));
                 }),
                 false);
}

TEST_CASE("gradient of the row norms") {
  check_gradient(program_with([](nn::Program& program, nn::ValueId x) { return program.l2_norm(x); }), false);
  check_gradient(program_with([](nn::Program& program, nn::ValueId x) {
                   const nn::ParameterId w = program.add_vector("w", 4, 0);
                   return program.layer_norm(x, w, program.add_vector("b", 4, 0));
                 }),
                 false);
}

namespace {

nn::ValueId batch_norm(nn::Program& program, nn::ValueId x, const std::string& name) {
  nn::op::BatchNorm norm{.weight = program.add_vector(name + "w", program.cols(x), 0),
                         .bias = program.add_vector(name + "b", program.cols(x), 0)};
  for (nn::ParameterId* const tracked : {&norm.running_mean, &norm.running_variance}) {
    *tracked = program.add_vector(name + "running", program.cols(x), 0);
    program.parameters.back().learnt = false;
  }
  return program.batch_norm(x, norm);
}

}  // namespace

TEST_CASE("gradient of batch norm, once and behind an aggregation, over all and over active rows") {
  const auto body = [](nn::Program& program, nn::ValueId x) {
    const nn::ValueId y = program.relu(batch_norm(program, x, "first"));
    return batch_norm(program, program.aggregate(y, nn::Aggregation::kMean), "second");
  };
  Variation variation;
  check_gradient(program_with(body), variation);
  variation.prepare = [](halo::graph::LocalGraph& graph) {
    for (NodeId i = 0; i < kNodes; ++i) graph.active.push_back(i % 3 != 1 ? 1 : 0);
    graph.global_active = std::count(graph.active.begin(), graph.active.end(), 1);
  };
  check_gradient(program_with(body), variation);
}

TEST_CASE("gradient of the losses: class weights and label smoothing, multi-label, regression") {
  const nn::Program model = program_with([](nn::Program& program, nn::ValueId x) { return program.relu(x); });
  Variation variation;
  variation.change = [](nn::Targets& targets) {
    targets.class_weights = {0.5, 2.0, 1.25};
    targets.label_smoothing = 0.2;
    targets.global_weight = {7.5, 1.0, 1.0};
  };
  check_gradient(model, variation);
  variation.change = [](nn::Targets& targets) {
    targets.task = nn::Task::kMultiLabel;
    for (std::int64_t k = 0; k < kNodes * kClasses; ++k) targets.multi_labels.push_back(k % 5 < 2 ? 1 : 0);
  };
  check_gradient(model, variation);
  for (const nn::Task task : {nn::Task::kSquaredError, nn::Task::kAbsoluteError}) {
    variation.change = [task](nn::Targets& targets) {
      targets.task = task;
      for (std::int64_t k = 0; k < kNodes * kClasses; ++k)
        targets.values.push_back(k % 7 == 0 ? std::nanf("") : 0.37F * static_cast<float>(k % 11));
    };
    check_gradient(model, variation);
  }
}
