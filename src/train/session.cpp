#include "session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "halo/base/byte_count.hpp"
#include "halo/base/cpu.hpp"
#include "halo/base/error.hpp"
#include "halo/base/log.hpp"
#include "halo/base/timer.hpp"
#include "halo/dist/row_levels.hpp"
#include "halo/dist/share_counts.hpp"
#include "halo/dist/training_subgraph.hpp"
#include "halo/kernels/product.hpp"
#include "halo/train/feature_scaling.hpp"
#include "halo/train/memory_check.hpp"
#include "halo/train/placement.hpp"
#include "halo/train/run_plan.hpp"
#include "problem.hpp"

namespace halo::train {
namespace {

/// Some MPI libraries append how they were built.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

void log_placement(const std::vector<RankPlacement>& ranks) {
  spdlog::info("{} rank{}, {}; vector code {}, products {}", ranks.size(), ranks.size() == 1 ? "" : "s",
               first_line(mpi::library_version()), to_string(vector_isa()), kernels::product_backend());
  const char* binding = std::getenv("OMP_PROC_BIND");
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    spdlog::info("rank {}: host {}, pid {}, cpus {}, {} thread{} (OMP_PROC_BIND {})", r, ranks[r].host,
                 ranks[r].pid, cpu_ranges(ranks[r].cpus), ranks[r].threads, ranks[r].threads == 1 ? "" : "s",
                 binding == nullptr ? "not set" : binding);
  }
}

}  // namespace

Session::Session(const mpi::Communicator& communicator, const TrainOptions& options, Purpose purpose)
    : communicator_(communicator) {
  const auto ranks = place_ranks(communicator_, options.threads);
  if (leads()) log_placement(ranks);
  threads_ = ranks[static_cast<std::size_t>(communicator_.rank())].threads;
  program_bytes_ = program_bytes();
  load(options);
  nn::Targets targets = make_targets(communicator_, partition_, options.task);
  has_validation_ = targets.global_count[1] > 0 || partition_.val_links.global_size > 0;
  communicator_.agree([&] {
    check_validation(options);
    make_model(options, targets);
  });
  if (options.task.inductive) {
    training_graph_ = std::make_unique<graph::LocalGraph>(dist::training_subgraph(communicator_, partition_));
  }
  if (purpose == Purpose::kTraining && !model_.external_loss) {
    dist::mark_row_levels(communicator_, partition_, targets.rows[0],
                          training_graph_ ? *training_graph_ : partition_.graph);
  }
  if (purpose == Purpose::kTraining) check_plan(options);
  make_executor(options, std::move(targets), purpose);
  if (model_.external_loss) make_link_prediction(options, purpose);
  executor_->fold_constants();
  if (leads()) log_memory();
  if (!options.trace.empty()) start_trace();
}

void Session::start_trace() {
  trace_ = std::make_unique<RunTrace>(communicator_, threads_);
  executor_->set_trace(trace_->recorder());
  exchange_->set_trace(&trace_->recorder());
}

void Session::make_model(const TrainOptions& options, const nn::Targets& targets) {
  model_ = make_program(partition_.manifest, options);
  if (model_.external_loss) return;
  metrics_ = options.task.metrics.empty() ? default_metrics(targets.task) : options.task.metrics;
  check_metrics(metrics_, targets.task, targets.cols);
}

void Session::load(const TrainOptions& options) {
  const Timer timer;
  const auto check_share = [&](const datasets::PartitionManifest& manifest,
                               const graph::ShareCounts& counts) {
    check_memory(communicator_, share_memory(manifest, counts, options, program_bytes_), options.memory_limit,
                 manifest.parts);
  };
  partition_ = dist::load_partition(communicator_, options.partition, check_share);
  if (!leads()) return;
  spdlog::info("{}: {} nodes, {} edges, {} parts on {} rank(s), read in {:.2f} s", partition_.manifest.name,
               partition_.manifest.num_nodes, partition_.manifest.num_edges, partition_.manifest.parts,
               communicator_.size(), timer.seconds());
}

/// Of the schedules and gathers that make_executor() will make.
void Session::check_plan(const TrainOptions& options) const {
  const graph::ShareCounts counts =
      dist::count_share(partition_, training_graph_ ? *training_graph_ : partition_.graph);
  SentRows sent = {counts.in.sent, counts.out.sent};
  for (graph::ByLevel& rows : sent) communicator_.sum(std::span<std::int64_t>(rows));
  const RankMemory memory = RunPlanner(partition_.manifest, options)
                                .memory_of(counts, sent, communicator_.size(), threads_, program_bytes_);
  spdlog::debug("this rank will need {}", format_byte_count(memory.total()));
  check_memory(communicator_, memory, options.memory_limit, partition_.manifest.parts);
}

void Session::check_validation(const TrainOptions& options) const {
  const auto needs = [this](bool wanted, const char* what, const char* option) {
    if (!wanted || has_validation_) return;
    throw InputError({.what = fmt::format("{} needs validation nodes", what),
                      .where = option,
                      .found = "a dataset without validation nodes",
                      .expected = "some validation nodes",
                      .next = fmt::format("leave {} out", option)});
  };
  needs(options.patience > 0, "early stopping", "--patience");
  needs(options.best_weights, "the choice of the best weights", "--best-weights");
  needs(options.schedule.name == "plateau", "the plateau schedule", "--schedule");
}

void Session::make_executor(const TrainOptions& options, nn::Targets targets, Purpose purpose) {
  const MatrixView<float> features(partition_.features.data(), partition_.graph.owned,
                                   partition_.manifest.feature_cols);
  scale_features(communicator_, partition_.graph,
                 choose_scaling(options.row_normalise, options.row_normalise_l2, options.standardise),
                 features);
  const nn::Graphs graphs(training_graph_ ? *training_graph_ : partition_.graph, partition_.graph);
  nn::Schedules schedules = nn::make_schedules(model_, graphs);
  if (purpose == Purpose::kInference) schedules.train = schedules.evaluation;
  exchange_ =
      std::make_unique<DistExchange>(communicator_, partition_, graphs.train, options.transport,
                                     nn::find_gathers({&schedules.train, &schedules.evaluation}), threads_);
  executor_ = std::make_unique<nn::Executor<float>>(graphs, features, std::move(targets),
                                                    std::move(schedules), *exchange_, threads_);
}

void Session::make_link_prediction(const TrainOptions& options, Purpose purpose) {
  const LinkOptions link_options = {.decoder = options.model.decoder,
                                    .negatives = options.task.negatives,
                                    .hits_k = options.task.hits_k,
                                    .metrics = options.task.metrics};
  links_ = std::make_unique<LinkPrediction>(communicator_, partition_, model_, link_options, threads_,
                                            purpose == Purpose::kTraining);
  executor_->set_row_loss(links_->row_loss());
}

void Session::log_memory() const {
  const nn::MemoryPlan plan = executor_->memory_plan();
  spdlog::info(
      "{} parameters; rank 0 holds {} rows + {} halo rows, {:.1f} MiB of activations, {:.1f} MiB of "
      "constants",
      model_.parameter_count(), partition_.graph.owned, partition_.graph.in.halo,
      static_cast<double>(plan.arena) / 0x1p20, static_cast<double>(plan.constants) / 0x1p20);
  spdlog::debug("program\n{}", to_text(executor_->train_schedule()));
}

Scoring Session::evaluate(std::span<const float> parameters) {
  const nn::Scores scores = executor_->evaluate(parameters);
  if (links_) return links_->evaluate(executor_->logits(), parameters);
  return score_outputs(communicator_, executor_->targets(), scores, executor_->logits(), metrics_);
}

NodeSlice Session::node_slice() const {
  return {.num_nodes = partition_.manifest.num_nodes,
          .owned = partition_.ownership.nodes_of(communicator_.rank())};
}

}  // namespace halo::train
