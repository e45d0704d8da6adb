#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "halo/nn/models.hpp"
#include "halo/nn/passes.hpp"
#include "halo/nn/schedule.hpp"

namespace nn = halo::nn;
namespace op = halo::nn::op;
using halo::at;

namespace {

std::vector<std::string> kinds(const nn::Program& program) {
  std::vector<std::string> names;
  for (const nn::Operation& operation : program.operations) names.push_back(nn::describe(operation.kind));
  return names;
}

using Names = std::vector<std::string>;

/// features -> aggregate(features W)
nn::Program one_layer(std::int64_t in, std::int64_t out, double input_dropout) {
  nn::Program program;
  const nn::ValueId x = program.dropout(program.input(in), input_dropout, 0);
  const nn::ParameterId w = program.add_weight("w", in, out, 0);
  program.logits = program.aggregate(program.linear(x, w), nn::Aggregation::kGcn);
  return program;
}

}  // namespace

TEST_CASE("the product comes first where it makes rows narrow, last where it makes them wide") {
  CHECK(kinds(nn::order_products(one_layer(100, 3, 0.5))) ==
        Names{"input", "dropout(0.5)", "linear", "aggregate(gcn)"});
  const nn::Program wide = nn::order_products(one_layer(3, 100, 0.5));
  CHECK(kinds(wide) == Names{"input", "dropout(0.5)", "aggregate(gcn)", "linear"});
  CHECK(wide.cols(wide.operations[2].output) == 3);
  CHECK(wide.cols(wide.logits) == 100);
}

TEST_CASE("of equal orders that takes the aggregation first, whose result backward does not read") {
  const nn::Program model =
      nn::build_model({.model = "gcn", .layers = 3, .hidden = 16, .dropout = 0.0}, 8, 5);
  const nn::Program ordered = nn::order_products(model);
  CHECK(kinds(ordered) == Names{"input", "aggregate(gcn)", "linear", "add_bias", "relu",  //
                                "aggregate(gcn)", "linear", "add_bias", "relu",           //
                                "linear", "aggregate(gcn)", "add_bias"});
  const nn::ValueId sum = ordered.operations[5].output;
  const nn::Program trained = nn::train_program(model);
  const auto reads_sum = [&](const nn::Operation& o) { return std::ranges::count(o.inputs, sum) > 0; };
  CHECK(std::ranges::count_if(trained.operations, reads_sum) == 1);
}

TEST_CASE("constant features are aggregated once, unless that would keep many more columns than it saves") {
  CHECK(kinds(nn::order_products(one_layer(100, 40, 0.0))) == Names{"input", "aggregate(gcn)", "linear"});
  CHECK(kinds(nn::order_products(one_layer(1433, 16, 0.0))) == Names{"input", "linear", "aggregate(gcn)"});
}

TEST_CASE(
    "the first aggregation of constant features leaves the epoch, its halo exchange and backward with it") {
  const nn::Program model = nn::build_model({.model = "sage", .layers = 2, .hidden = 64}, 32, 5);
  const nn::Schedule schedule =
      nn::make_schedule(nn::train_program(model), {.owned = 10, .halo_in = 2, .halo_out = 2});
  REQUIRE(schedule.constant_stages.size() == 2);  // the features; their sum over neighbours
  CHECK(schedule.constant_stages[1].gathered != nn::kNone);
  const auto gathers = std::count_if(schedule.stages.begin(), schedule.stages.end(),
                                     [](const nn::Stage& stage) { return stage.gathered != nn::kNone; });
  CHECK(gathers == 2);  // second layer, forward and backward
}

TEST_CASE("no gradient is computed that no parameter needs") {
  const nn::Program model =
      nn::build_model({.model = "gcn", .layers = 1, .hidden = 1, .input_dropout = 0.5}, 8, 3);
  for (const std::string& name : kinds(nn::train_program(model))) CHECK(name != "linear_input_gradient");
}

TEST_CASE("a fixed epsilon of GIN is in the weights but not learnt: no gradient, none of the features") {
  const auto count = [](const nn::ModelOptions& options) {
    const auto names = kinds(nn::train_program(nn::build_model(options, 8, 3)));
    return std::count(names.begin(), names.end(), "add_scaled_gradient");
  };
  CHECK(count({.model = "gin", .layers = 3, .hidden = 4}) == 2);  // the first layer needs none
  CHECK(count({.model = "gin", .layers = 3, .hidden = 4, .learn_epsilon = true}) == 3);
  const nn::Program fixed = nn::build_model({.model = "gin", .layers = 3, .hidden = 4}, 8, 3);
  const nn::Program learnt =
      nn::build_model({.model = "gin", .layers = 3, .hidden = 4, .learn_epsilon = true}, 8, 3);
  CHECK(fixed.parameter_count() == learnt.parameter_count());
  CHECK(fixed.learnt_count() == learnt.learnt_count() - 3);
  for (const nn::Parameter& parameter : fixed.parameters) {
    CHECK(parameter.learnt == !parameter.name.ends_with(".eps"));
  }
}

TEST_CASE("relu and dropout become one operation") {
  const nn::Program model =
      nn::build_model({.model = "mlp", .layers = 2, .hidden = 4, .dropout = 0.25}, 8, 3);
  CHECK(kinds(nn::train_program(model)) == Names{"input", "linear", "relu_dropout(0.25)", "linear", "loss",
                                                 "linear_weight_gradient", "linear_input_gradient",
                                                 "relu_dropout_gradient(0.25)", "linear_weight_gradient"});
}

TEST_CASE("evaluation has no dropout and ends in a score") {
  const nn::Program model =
      nn::build_model({.model = "gcn", .layers = 2, .dropout = 0.5, .input_dropout = 0.5}, 8, 3);
  const Names names = kinds(nn::evaluation_program(model));
  CHECK(names.back() == "score");
  for (const std::string& name : names) CHECK(name.find("dropout") == std::string::npos);
}

TEST_CASE("the two terms of a GraphSAGE layer are added by the product itself") {
  const nn::Program model = nn::build_model({.model = "sage", .layers = 2, .hidden = 8}, 8, 3);
  for (const std::string& name : kinds(nn::train_program(model))) CHECK(name != "add");
}

TEST_CASE("values that share memory are never alive together, and only row by row within a stage") {
  for (const char* name : {"gcn", "sage", "mlp"}) {
    for (const int layers : {1, 2, 4}) {
      CAPTURE(name);
      CAPTURE(layers);
      const nn::Program model =
          nn::build_model({.model = name, .layers = layers, .hidden = 16, .input_dropout = 0.1}, 24, 5);
      const nn::Schedule schedule =
          nn::make_schedule(nn::train_program(model),
                            {.owned = 100, .halo_in = 7, .halo_out = 9, .symmetric = false, .tile = 32});
      // An independent check of the placement: note of each element of the arena which value wrote it last,
      // and see that every read finds its value. Scratch belongs to a tile, so that it holds nothing from
      // one stage to the next.
      std::vector<nn::ValueId> arena(at(schedule.arena_elements), nn::kNone);
      for (const nn::Stage& stage : schedule.stages) {
        std::vector<nn::ValueId> scratch(at(schedule.scratch_elements), nn::kNone);
        const auto elements = [&](nn::ValueId value) {
          const nn::Placement& place = schedule.placements[at(value)];
          const bool in_arena = place.memory == nn::Memory::kArena;
          const auto rows = in_arena ? 100 + schedule.halo_rows[at(value)] : 32;
          auto& memory = in_arena ? arena : scratch;
          REQUIRE(place.offset + rows * schedule.program.cols(value) <= std::ssize(memory));
          return std::span(memory).subspan(at(place.offset), at(rows * schedule.program.cols(value)));
        };
        const auto check_there = [&](nn::ValueId value) {
          if (schedule.placements[at(value)].memory == nn::Memory::kConstant) return;
          const auto found = elements(value);
          CHECK(std::count(found.begin(), found.end(), value) == std::ssize(found));
        };
        std::vector<nn::ValueId> summed;
        for (const auto position : stage.operations) {
          const nn::Operation& operation = schedule.program.operations[at(position)];
          for (const nn::ValueId input : operation.inputs) check_there(input);
          if (std::holds_alternative<op::NeighbourSum>(operation.kind)) summed.push_back(operation.inputs[0]);
          if (operation.output == nn::kNone) continue;
          // The rows of an input that dies may be written over where they lie, and nowhere else.
          const auto written = elements(operation.output);
          for (const nn::ValueId other : written) {
            if (other == nn::kNone) continue;
            const nn::Placement& place = schedule.placements[at(other)];
            const bool same = place.offset == schedule.placements[at(operation.output)].offset &&
                              schedule.program.cols(other) == schedule.program.cols(operation.output);
            const bool in_this_stage =
                std::any_of(stage.operations.begin(), stage.operations.end(), [&](std::int32_t k) {
                  const auto& inputs = schedule.program.operations[at(k)].inputs;
                  return place.memory == nn::Memory::kArena &&
                         std::count(inputs.begin(), inputs.end(), other) > 0;
                });
            if (in_this_stage) REQUIRE(same);
          }
          std::fill(written.begin(), written.end(), operation.output);
        }
        for (const nn::ValueId value : summed)
          check_there(value);  // other tiles read it until the stage ends
      }
    }
  }
}

TEST_CASE("what no other stage reads never has a row for every node") {
  // Backward of a layer of the same width: the gradient of the sum, of the two products and of the
  // activation are made and used up tile by tile.
  const nn::Program model = nn::build_model({.model = "sage", .layers = 3, .hidden = 16}, 24, 5);
  const nn::Schedule schedule = nn::make_schedule(nn::train_program(model), {.owned = 100, .tile = 10});
  CHECK(schedule.arena_elements == 2 * 1600 + 2 * 512);  // 100 x 16 and 100 x 5, whole cache lines
}

TEST_CASE("activations are reused: a deep network needs less memory than its values have elements") {
  const nn::Program model = nn::build_model({.model = "gcn", .layers = 8, .hidden = 16}, 24, 5);
  const nn::Schedule schedule = nn::make_schedule(nn::train_program(model), {.owned = 10, .tile = 10});
  std::int64_t elements = 0;
  for (std::size_t v = 0; v < schedule.program.values.size(); ++v)
    elements += 10 * schedule.program.cols(static_cast<nn::ValueId>(v));
  CHECK(schedule.arena_elements < elements / 2);
}

TEST_CASE("initial weights are within Glorot's bound, biases zero, and a function of the seed") {
  const nn::Program model = nn::build_model({.model = "sage", .layers = 2, .hidden = 8}, 4, 3);
  std::vector<double> a(static_cast<std::size_t>(model.parameter_count()));
  std::vector<double> b = a;
  nn::initialise_parameters(model, 1, a.data());
  nn::initialise_parameters(model, 1, b.data());
  CHECK(a == b);
  nn::initialise_parameters(model, 2, b.data());
  CHECK(a != b);
  for (const nn::Parameter& parameter : model.parameters) {
    const double bound =
        parameter.rows == 1 ? 0.0 : std::sqrt(6.0 / static_cast<double>(parameter.rows + parameter.cols));
    for (std::int64_t k = 0; k < parameter.size(); ++k) {
      CHECK(std::abs(a[static_cast<std::size_t>(parameter.offset + k)]) <= bound);
    }
  }
}
