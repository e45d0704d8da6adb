// A plan says before a run what the run then holds and sends: the same numbers, not about the same.

#include <doctest/doctest.h>

#include "dist/shared_folder.hpp"
#include "halo/base/log.hpp"
#include "halo/nn/memory.hpp"
#include "halo/train/run_plan.hpp"
#include "session.hpp"
#include "support/mpi_world.hpp"
#include "support/small_graphs.hpp"
#include "support/small_partition.hpp"

namespace train = halo::train;
using halo::at;
using halo::testing::world;

namespace {

halo::testing::SmallPartition labelled(const halo::graph::Csr& in_edges, std::int64_t train_every) {
  auto whole = halo::testing::make_small_partition(in_edges, 5);
  for (std::size_t i = 0; i < whole.labels.size(); ++i) {
    whole.labels[i] = static_cast<std::int32_t>(i % 4);
    whole.split[i] = static_cast<std::int64_t>(i) % train_every == 0 ? 1 : 2;
  }
  return whole;
}

void check_plan(const std::filesystem::path& folder, const halo::nn::ModelOptions& model, bool inductive) {
  CAPTURE(model.model);
  CAPTURE(inductive);
  train::TrainOptions options;
  options.partition = folder;
  options.model = model;
  options.task.inductive = inductive;
  options.threads = 2;
  train::Session session(world(), options);
  const train::RunPlan plan = train::plan_run(train::scan_for(options), options, world().size(), 2, 0);
  const train::RankPlan& mine = plan.ranks[at(world().rank())];
  const train::RunPlanner planner(session.partition().manifest, options);
  const auto forecast =
      halo::nn::forecast_memory(planner.schedules_of(mine.counts), mine.counts,
                                {.two_graphs = inductive, .weighted = false, .classes = 4, .threads = 2});
  const halo::nn::MemoryPlan held = session.executor().memory_plan();
  CHECK(forecast.held.arena == held.arena);
  CHECK(forecast.held.scratch == held.scratch);
  CHECK(forecast.held.constants == held.constants);
  CHECK(forecast.held.sums == held.sums);
  CHECK(forecast.held.weights == held.weights);
  CHECK(forecast.held.row_factors == held.row_factors);
  CHECK(forecast.held.edges_to_level == held.edges_to_level);
  CHECK(forecast.arena_touched <= held.arena);
  CHECK(mine.memory.of("features") == session.partition().graph.owned * 3 * 4);
  CHECK(mine.counts.in.halo_rows() == session.partition().graph.in.halo);
  CHECK(mine.counts.in.sent_rows() == session.partition().in_plan.rows_sent());

  std::vector<float> parameters(at(session.model().parameter_count()));
  std::vector<float> gradient(parameters.size());
  halo::nn::initialise_parameters(session.model(), 1, parameters.data());
  session.exchange().reset_statistics();
  session.executor().train(parameters, 1, 1, gradient);
  CHECK(mine.traffic.bytes == session.exchange().statistics().halo_bytes_sent);
  std::int64_t sent[] = {mine.traffic.bytes};
  world().sum(std::span<std::int64_t>(sent));
  CHECK(plan.halo_bytes_per_epoch() == sent[0]);
}

}  // namespace

TEST_CASE("arena, scratch, constants, sums, edges and bytes sent are those of the plan") {
  halo::set_up_log("warn", true, "");
  for (const bool symmetric : {true, false}) {
    // Sparse, with few training nodes: rows of all levels, and gathers of some rows only.
    const auto graph = halo::testing::random_graph(300, 0.01, symmetric, 3);
    for (const std::int64_t train_every : {2, 60}) {
      const halo::testing::SharedFolder folder;
      if (world().rank() == 0)
        halo::testing::write_small_partition(folder.path(), labelled(graph, train_every));
      world().barrier();
      halo::nn::ModelOptions gcn;
      gcn.layers = 3;
      gcn.hidden = 8;
      check_plan(folder.path(), gcn, false);
      check_plan(folder.path(), gcn, true);
      halo::nn::ModelOptions gat = gcn;
      gat.model = "gat";
      gat.attention_dropout = 0.5;
      check_plan(folder.path(), gat, false);
      halo::nn::ModelOptions pooling;
      pooling.model = "sage";
      pooling.aggregator = "max";
      pooling.norm = "batch";
      pooling.residual = "linear";
      check_plan(folder.path(), pooling, false);
    }
  }
}
