// Rows stored at half width: which they are, and how little the result changes.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "../../src/nn/passes/half_rows.hpp"
#include "gradient_check.hpp"
#include "halo/nn/executor.hpp"
#include "halo/nn/models.hpp"
#include "halo/nn/passes.hpp"

namespace nn = halo::nn;
namespace op = halo::nn::op;
using namespace halo::test;
using halo::at;

namespace {

nn::ModelOptions options_of(const std::string& model) {
  nn::ModelOptions options{.model = model, .hidden = 8};
  if (model != "sgc") options.dropout = 0.0;
  if (model != "sgc" && model != "sign") options.layers = 3;
  if (model == "appnp") options.hops = 3;
  return options;
}

nn::Program half_program(nn::ModelOptions options) {
  options.storage = "bf16";
  return nn::build_model(options, kFeatures, kClasses);
}

struct Result {
  double loss = 0.0;
  std::vector<double> gradient;
};

template <typename Real>
Result train(nn::Program model, const halo::graph::LocalGraph& graph) {
  halo::RandomStream random(3);
  std::vector<Real> features(kNodes * kFeatures);
  for (Real& x : features) x = static_cast<Real>(random.normal());
  nn::SoloExchange<Real> alone;
  nn::Executor<Real> executor(graph, {features.data(), kNodes, kFeatures}, targets(),
                              nn::make_schedules(model, graph), alone, 2);
  executor.fold_constants();
  std::vector<Real> parameters(at(model.parameter_count()));
  nn::initialise_parameters(model, 1, parameters.data());
  std::vector<Real> gradient(parameters.size());
  Result result;
  result.loss = executor.train(parameters, 5, 7, gradient);
  result.gradient.assign(gradient.begin(), gradient.end());
  return result;
}

double length(const std::vector<double>& x) {
  double sum = 0.0;
  for (const double value : x) sum += value * value;
  return std::sqrt(sum);
}

/// The gradient's distance from that of whole rows, to its length; the loss's likewise.
struct Difference {
  double loss = 0.0, gradient = 0.0;
};
template <typename Real>
Difference difference(const nn::ModelOptions& options, bool weighted) {
  const halo::graph::LocalGraph graph = directed_graph(weighted);
  const Result whole = train<Real>(nn::build_model(options, kFeatures, kClasses), graph);
  const Result half = train<Real>(half_program(options), graph);
  std::vector<double> apart;
  for (std::size_t k = 0; k < whole.gradient.size(); ++k)
    apart.push_back(half.gradient[k] - whole.gradient[k]);
  return {std::abs(half.loss - whole.loss) / whole.loss, length(apart) / length(whole.gradient)};
}

/// Rounding to 8 (float) or 24 (double) bits shows, and no more than that.
void check_rounding_only(const nn::ModelOptions& options) {
  CAPTURE(options.model);
  CAPTURE(options.norm);
  CAPTURE(options.jumping);
  CAPTURE(options.residual);
  CAPTURE(options.aggregator);
  const bool weighted = options.aggregator == "mean" && options.model != "gat" && options.model != "gatv2";
  const Difference in_float = difference<float>(options, weighted);
  CHECK(in_float.loss < 0.02);
  CHECK(in_float.gradient < 0.2);  // rounding moves some values across a kink
  CHECK(in_float.gradient > 1e-5);
  const Difference in_double = difference<double>(options, weighted);
  CHECK(in_double.loss < 1e-6);
  CHECK(in_double.gradient < 1e-5);
  CHECK(in_double.gradient > 1e-12);
}

std::int64_t count(const nn::Program& program, const std::string& name) {
  return std::ranges::count_if(program.operations, [&](const nn::Operation& operation) {
    return nn::describe(operation.kind).starts_with(name);
  });
}

}  // namespace

TEST_CASE("half rows: SAGE by hand: every gather is half as wide, every row between stages too") {
  const nn::RowCounts rows{.owned = 1000, .halo_in = 100, .halo_out = 100, .symmetric = true, .tile = 10};
  const nn::ModelOptions options{.model = "sage", .layers = 3, .hidden = 64, .dropout = 0.0};
  const nn::Program half = half_program(options);
  const nn::Schedule schedule = nn::make_schedule(nn::train_program(half), rows);
  const nn::Program& program = schedule.program;
  std::int64_t gathers = 0;
  for (const nn::Stage& stage : schedule.stages) {
    if (stage.gathered == nn::kNone) continue;
    ++gathers;
    CHECK(program.cols(stage.gathered) == (gathers == 2 || gathers == 3 ? 2 : 32));  // 3 classes -> 2
  }
  CHECK(gathers == 4);
  for (std::size_t v = 0; v < program.values.size(); ++v) {
    if (schedule.placements[v].memory == nn::Memory::kArena) CHECK(program.values[v].cols <= 32);
  }
  const nn::Schedule whole =
      nn::make_schedule(nn::train_program(nn::build_model(options, kFeatures, kClasses)), rows);
  CHECK(schedule.stages.size() == whole.stages.size());
  CHECK(schedule.arena_elements < whole.arena_elements * 6 / 10);
}

TEST_CASE("half rows: a value is packed once, and unpacked once in each later stage that reads it") {
  // v is read in its own stage (relu), summed over neighbours twice, and read twice in the stage behind.
  nn::Program program;
  const nn::ValueId x = program.input(kFeatures);
  const nn::ValueId v = program.linear(x, program.add_weight("w", kFeatures, 4, 0));
  const nn::ValueId r = program.relu(v);
  const nn::ValueId s = program.aggregate(v, nn::Aggregation::kSum);
  const nn::ValueId t = program.aggregate(v, nn::Aggregation::kMean);
  const nn::ValueId sum = program.add(program.add(program.add(s, t), v), program.add(v, r));
  program.logits = program.linear(sum, program.add_weight("last", 4, kClasses, 1));
  const nn::Program half = nn::store_half_rows(nn::inference_program(program, program.logits), true);
  CHECK(count(half, "pack_half") == 2);  // v and r
  CHECK(count(half, "unpack_half") == 2);
  CHECK(count(half, "neighbour_sum(in, no loop, 1, half)") == 1);
  CHECK(count(half, "neighbour_sum") == 2);
}

TEST_CASE(
    "half rows: nothing is stored where nothing leaves its stage but to attention, and constants stay "
    "whole") {
  for (const char* model : {"mlp", "sgc", "gat", "gatv2"}) {
    const nn::Program half = half_program(options_of(model));
    const nn::Schedule schedule = nn::make_schedule(nn::train_program(half), {.owned = 10, .tile = 5});
    CHECK(count(schedule.program, "pack_half") == 0);
    CHECK(count(schedule.program, "unpack_half") == 0);
  }
}

TEST_CASE("half rows: what maxima read stays whole") {
  std::vector<nn::ModelOptions> models = {options_of("sage"), options_of("gcn")};
  models[0].aggregator = "pool";
  models[1].jumping = "max";
  for (const nn::ModelOptions& options : models) {
    CAPTURE(options.model);
    const nn::Program program =
        nn::make_schedule(nn::train_program(half_program(options)), {.owned = 10, .tile = 5}).program;
    CHECK(count(program, "pack_half") > 0);
    for (const nn::Operation& operation : program.operations) {
      const std::string name = nn::describe(operation.kind);
      if (!name.starts_with("neighbour_max") && !name.starts_with("maximum_gradient")) continue;
      for (const nn::ValueId input : operation.inputs) {
        const auto made = std::ranges::find(program.operations, input, &nn::Operation::output);
        CHECK(!nn::describe(made->kind).ends_with("pack_half"));
      }
    }
  }
}

TEST_CASE("half rows: loss and gradient of every model change by rounding only") {
  for (const std::string& name : nn::model_names()) {
    const std::set<std::string> stores_nothing{"mlp", "sgc", "sign", "gat", "gatv2"};
    if (stores_nothing.contains(name)) continue;
    check_rounding_only(options_of(name));
  }
  for (const char* norm : {"batch", "layer", "l2"}) {
    check_rounding_only({.model = "sage", .layers = 3, .hidden = 8, .dropout = 0.0, .norm = norm});
  }
  for (const char* jumping : {"cat", "max"}) {
    check_rounding_only({.model = "gcn", .layers = 3, .hidden = 8, .dropout = 0.0, .jumping = jumping});
  }
  for (const char* residual : {"identity", "linear"}) {
    check_rounding_only({.model = "gin", .layers = 3, .hidden = 8, .dropout = 0.0, .residual = residual});
  }
  for (const char* aggregator : {"sum", "pool"}) {
    check_rounding_only(
        {.model = "sage", .layers = 3, .hidden = 8, .dropout = 0.0, .aggregator = aggregator});
  }
}
