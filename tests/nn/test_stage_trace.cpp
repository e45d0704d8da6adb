#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "allocation_count.hpp"
#include "halo/graph/csr.hpp"
#include "halo/nn/executor.hpp"
#include "halo/nn/models.hpp"
#include "halo/nn/stage_trace.hpp"

namespace nn = halo::nn;
using halo::NodeId;
using halo::TraceEvent;
using halo::TraceKind;

namespace {

constexpr std::int64_t kNodes = 60;
constexpr std::int64_t kFeatures = 3;

/// A ring: every fourth node is for training.
struct Ring {
  Ring() {
    std::vector<NodeId> sources;
    std::vector<NodeId> targets_of;
    for (NodeId i = 0; i < kNodes; ++i) {
      sources.insert(sources.end(), {i, (i + 1) % kNodes});
      targets_of.insert(targets_of.end(), {(i + 1) % kNodes, i});
    }
    graph = halo::graph::whole_graph(halo::graph::build_in_edges(kNodes, sources, targets_of), 4, 2);
    targets.cols = 2;
    for (auto& rows : targets.rows) rows.assign(kNodes, 0);
    for (std::int64_t i = 0; i < kNodes; ++i) {
      targets.labels.push_back(static_cast<std::int32_t>(i % 2));
      const auto split = static_cast<std::size_t>(i % 4 == 0 ? 0 : 1);
      targets.rows[split][static_cast<std::size_t>(i)] = 1;
      ++targets.global_count[split];
      for (std::int64_t c = 0; c < kFeatures; ++c) features.push_back(static_cast<float>((i * 7 + c) % 5));
    }
  }

  nn::Executor<float> executor(const nn::Program& model, int threads) {
    return {graph,  {features.data(), kNodes, kFeatures}, targets, nn::make_schedules(model, graph), exchange,
            threads};
  }

  halo::graph::LocalGraph graph;
  std::vector<float> features;
  nn::Targets targets;
  nn::SoloExchange<float> exchange;
};

nn::Program small_sage() {
  nn::ModelOptions options;
  options.model = "sage";
  options.hidden = 4;
  return nn::build_model(options, kFeatures, 2);
}

std::vector<TraceEvent> of_kind(const halo::TraceRecorder& recorder, TraceKind kind) {
  std::vector<TraceEvent> found;
  std::copy_if(recorder.events().begin(), recorder.events().end(), std::back_inserter(found),
               [kind](const TraceEvent& event) { return event.kind == kind; });
  return found;
}

}  // namespace

TEST_CASE("a stage is named by its number, its place about the loss, its gather and its operations") {
  const Ring ring;
  const nn::Schedules schedules = nn::make_schedules(small_sage(), ring.graph);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < schedules.train.stages.size(); ++k) {
    names.push_back(nn::stage_name(schedules.train, k, false));
  }
  REQUIRE(names.size() >= 3);
  CHECK(names.front().starts_with("forward 0: linear, relu"));  // the sum of the features is made once
  CHECK(names.back().starts_with("backward " + std::to_string(names.size() - 1) + ": gather v"));
  CHECK(std::count_if(names.begin(), names.end(),
                      [](const std::string& name) { return name.find("loss") < name.find(':'); }) == 1);
  CHECK(nn::stage_name(schedules.evaluation, 1, true).starts_with("evaluation 1: gather v"));
}

TEST_CASE("an epoch records each stage once and each thread's groups within it, and computes the same bits") {
  for (const int threads : {1, 2, 3}) {
    Ring ring;
    const nn::Program model = small_sage();
    std::vector<std::vector<float>> gradients;
    for (const bool traced : {false, true}) {
      auto executor = ring.executor(model, threads);
      halo::TraceRecorder recorder(1000, threads);
      executor.fold_constants();
      if (traced) executor.set_trace(recorder);
      std::vector<float> parameters(static_cast<std::size_t>(model.parameter_count()));
      nn::initialise_parameters(model, 1, parameters.data());
      gradients.emplace_back(parameters.size());
      executor.train(parameters, 1, 1, gradients.back());
      if (!traced) {
        CHECK(recorder.events().empty());
        continue;
      }
      const std::vector<TraceEvent> stages = of_kind(recorder, TraceKind::kStage);
      REQUIRE(stages.size() == executor.train_schedule().stages.size());
      for (std::size_t k = 0; k < stages.size(); ++k) CHECK(stages[k].value == static_cast<std::int64_t>(k));
      CHECK(of_kind(recorder, TraceKind::kSums).size() == 1);
      for (const TraceKind kind : {TraceKind::kInterior, TraceKind::kBoundary, TraceKind::kGroups}) {
        for (const TraceEvent& work : of_kind(recorder, kind)) {
          CHECK(work.thread < threads);
          CHECK(work.value > 0);
          CHECK(work.value <= work.end - work.begin);
          CHECK(std::count_if(stages.begin(), stages.end(), [&](const TraceEvent& stage) {
                  return stage.label == work.label && stage.begin <= work.begin && work.end <= stage.end;
                }) == 1);
        }
      }
      // A graph of one rank has no boundary.
      CHECK(of_kind(recorder, TraceKind::kBoundary).empty());
      CHECK(!of_kind(recorder, TraceKind::kInterior).empty());
      CHECK(!of_kind(recorder, TraceKind::kGroups).empty());
      const std::size_t before = recorder.events().size();
      executor.evaluate(parameters);
      CHECK(recorder.events().size() > before);
    }
    CHECK(gradients[0] == gradients[1]);
  }
}

TEST_CASE("recording an epoch allocates nothing") {
  std::vector<std::int64_t> allocated;
  for (const bool traced : {false, true}) {
    Ring ring;
    const nn::Program model = small_sage();
    auto executor = ring.executor(model, 2);
    halo::TraceRecorder recorder(1000, 2);
    executor.fold_constants();
    if (traced) executor.set_trace(recorder);
    std::vector<float> parameters(static_cast<std::size_t>(model.parameter_count()));
    nn::initialise_parameters(model, 1, parameters.data());
    std::vector<float> gradient(parameters.size());
    const std::int64_t before = halo::testing::allocation_count();
    CHECK(before > 0);
    executor.train(parameters, 1, 1, gradient);
    allocated.push_back(halo::testing::allocation_count() - before);
    CHECK(recorder.events().empty() != traced);
  }
  CHECK(allocated[1] == allocated[0]);
}
