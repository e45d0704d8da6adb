// After its first epochs, training and evaluation allocate nothing and touch no new page.

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "allocation_count.hpp"
#include "gradient_check.hpp"
#include "halo/graph/row_levels.hpp"
#include "halo/nn/executor.hpp"
#include "halo/nn/models.hpp"

namespace nn = halo::nn;
using halo::at;
using namespace halo::test;
using halo::testing::allocation_count;

namespace {

std::int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

/// Of three epochs after two.
struct Steady {
  std::int64_t allocations = 0;
  std::int64_t page_faults = 0;  ///< of the epoch with the fewest: the system may take pages back at any time
};
Steady run(const nn::ModelOptions& options, int threads) {
  const nn::Program model = nn::build_model(options, kFeatures, kClasses);
  halo::graph::LocalGraph graph = directed_graph(false);
  halo::graph::mark_levels(graph, targets().rows[0], [](halo::graph::LocalGraph&) {});
  std::vector<float> features(at(kNodes * kFeatures), 0.5F);
  nn::SoloExchange<float> alone;
  nn::Executor<float> executor(graph, {features.data(), kNodes, kFeatures}, targets(),
                               nn::make_schedules(model, graph), alone, threads);
  executor.fold_constants();
  std::vector<float> parameters(at(model.parameter_count()));
  nn::initialise_parameters(model, 1, parameters.data());
  std::vector<float> gradient(parameters.size());
  std::uint64_t epoch = 0;
  const auto train = [&] { executor.train(parameters, 1, ++epoch, gradient); };
  for (int warm_up = 0; warm_up < 2; ++warm_up) {
    train();
    executor.evaluate(parameters);
  }
  Steady steady{.allocations = -allocation_count(), .page_faults = std::numeric_limits<std::int64_t>::max()};
  for (int k = 0; k < 3; ++k) {
    const std::int64_t before = page_faults();
    train();
    steady.page_faults = std::min(steady.page_faults, page_faults() - before);
  }
  steady.allocations += allocation_count();
  return steady;
}

void check(const nn::ModelOptions& options) {
  CAPTURE(options.model);
  CAPTURE(options.norm);
  CAPTURE(options.aggregator);
  CAPTURE(options.storage);
  for (const int threads : {1, 2}) {
    CAPTURE(threads);
    const Steady steady = run(options, threads);
    CHECK(steady.allocations == 0);
    CHECK(steady.page_faults == 0);
  }
}

}  // namespace

TEST_CASE("the counters count") {
  const std::int64_t before = allocation_count();
  const std::int64_t faults_before = page_faults();
  std::vector<char> memory(std::size_t{1} << 24, 1);
  CHECK(allocation_count() == before + 1);
  CHECK(page_faults() > faults_before);
  CHECK(memory.back() == 1);
}

TEST_CASE("an epoch of training allocates nothing and faults on no page: every model, norms, storage") {
  for (const std::string& name : nn::model_names()) {
    nn::ModelOptions options{.model = name, .hidden = 24, .input_dropout = 0.2};
    if (name != "sgc" && name != "sign") options.layers = 3;
    if (name == "gat" || name == "gatv2") options.attention_dropout = 0.3;
    check(options);
  }
  for (const char* norm : {"batch", "layer", "l2"}) check({.model = "gcn", .hidden = 24, .norm = norm});
  for (const char* aggregator : {"sum", "pool"})
    check({.model = "sage", .hidden = 24, .aggregator = aggregator});
  check({.model = "sage", .layers = 3, .hidden = 24, .storage = "bf16"});
}
