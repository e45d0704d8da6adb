// gnn_train: trains a graph neural network on a partitioned dataset, on any number of MPI ranks up to its
// number of parts.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <thread>

#include "command_line.hpp"
#include "gnn_train_options.hpp"
#include "halo/base/error.hpp"
#include "halo/base/log.hpp"
#include "halo/mpi/program.hpp"
#include "halo/train/epoch_estimate.hpp"
#include "halo/train/inference.hpp"
#include "halo/train/memory_check.hpp"
#include "halo/train/placement.hpp"
#include "halo/train/trace_text.hpp"
#include "halo/train/trainer.hpp"
#include "option_file.hpp"
#include "plan_report.hpp"

namespace {

using namespace halo;

void print_one(const nlohmann::json& summary) {
  fmt::print("epochs {}{}, {:.4f} s each (median; training {:.4f} s), peak memory {:.1f} MiB per rank\n",
             summary["epochs"].get<std::int64_t>(),
             summary["stopped_early"].get<bool>() ? " (stopped early)" : "",
             summary["epoch_seconds_median"].get<double>(), summary["train_seconds_median"].get<double>(),
             static_cast<double>(summary["peak_bytes_max"].get<std::int64_t>()) / 0x1p20);
  const auto metric = summary["metric"].get<std::string>();
  fmt::print("validation {} {}\ntest {} {}\n", metric, apps::format_score(summary["val_" + metric]), metric,
             apps::format_score(summary["test_" + metric]));
  fmt::print("{}", train::trace_text(summary));
}

void print_several(const nlohmann::json& summary) {
  const auto metric = summary["metric"].get<std::string>();
  for (const auto& [split, key] : {std::pair("validation", "val_"), std::pair("test", "test_")}) {
    const nlohmann::json& score = summary[key + metric];
    fmt::print("{} {} {} +- {} over {} runs\n", split, metric, apps::format_score(score["mean"]),
               apps::format_score(score["std"]), summary["runs"].get<std::int64_t>());
  }
}

void print_outcome(const train::TrainOutcome& outcome, const train::TrainOptions& options) {
  const std::string out = options.out.string();
  if (outcome.stopped_by_signal) {
    fmt::print("stopped by a signal after epoch {}; continue with: gnn_train --resume {}\n", outcome.epoch,
               out);
    if (!options.trace.empty()) fmt::print("trace {}\n", options.trace.string());
    return;
  }
  if (outcome.was_finished) fmt::print("{} is finished: nothing was left to do\n", out);
  options.runs > 1 ? print_several(outcome.summary) : print_one(outcome.summary);
  if (!out.empty()) fmt::print("run folder {}\n", out);
  if (!options.trace.empty() && !outcome.was_finished) fmt::print("trace {}\n", options.trace.string());
}

/// --evaluate-only. A folder in a file of options is that of the run which trained: only the command line's
/// counts.
void evaluate(const mpi::Communicator& world, const train::TrainOptions& options, const std::string& out) {
  const auto scores = train::infer(world, options, {.weights = options.initial_weights, .out = out});
  if (world.rank() == 0) apps::print_inference(scores, out);
}

/// --plan. Rank 0 reads the graph for all.
void plan(const mpi::Communicator& world, const train::TrainOptions& options) {
  const auto needs = train::gather_needs(world, {});
  const int threads = train::place_ranks(world, options.threads).front().threads;
  const train::Link link = train::measure_link(world);
  world.agree([&] {
    if (world.rank() != 0) return;
    train::check_options(options);
    const dist::PartitionScan scan = train::scan_for(options);
    apps::PlannedRun run;
    run.plan = train::plan_run(scan, options, world.size(), threads,
                               train::typical_program_bytes(world.local_size()));
    run.hosts = {.ranks_each = world.local_size(),
                 .cores = static_cast<int>(std::thread::hardware_concurrency())};
    run.link = link;
    run.epoch = train::EpochEstimator(scan, options).estimate(run.plan, link, run.hosts);
    run.unfit = apps::why_unfit(run.plan, needs, options.memory_limit, scan.manifest().parts);
    apps::print_plans(scan.manifest(), options, {run});
  });
}

int run(int argc, char** argv, const mpi::Communicator& world) {
  const bool leads = world.rank() == 0;
  CLI::App app{
      "Trains a graph neural network on a partitioned dataset: mpiexec -n P gnn_train PARTS --out RUN"};
  app.set_version_flag("--version", "gnn_train " HALO_VERSION);
  apps::TrainArguments arguments;
  apps::CommandLine line;
  int status = -1;
  world.agree([&] {
    line = apps::read_command_line(argc, argv);
    apps::add_option_file(app, apps::stored_option_file(line));
    apps::add_train_options(app, arguments);
    status = apps::parse(app, argc, argv, leads);
    if (status >= 0) return;
    set_up_log(arguments.ranks.log_level, arguments.ranks.quiet,
               world.size() > 1 ? fmt::format("rank {}", world.rank()) : "");
    apps::resolve(arguments);
  });
  if (status >= 0) return status;
  if (arguments.plan) {
    plan(world, arguments.train);
    return static_cast<int>(ExitStatus::kDone);
  }
  if (arguments.evaluate_only) {
    evaluate(world, arguments.train, line.out);
    return static_cast<int>(ExitStatus::kDone);
  }
  train::OptionRecord record = apps::record_of(app);
  record.set("out", arguments.train.out.string());
  for (const auto& [name, path] : {std::pair("partition", arguments.train.partition),
                                   std::pair("initial-weights", arguments.train.initial_weights)}) {
    if (!path.empty()) record.set(name, std::filesystem::absolute(path).string());
  }
  const auto outcome = train::train(world, arguments.train, record, {.progress = !arguments.ranks.quiet});
  if (leads) print_outcome(outcome, arguments.train);
  return static_cast<int>(outcome.stopped_by_signal ? ExitStatus::kStoppedEarly : ExitStatus::kDone);
}

}  // namespace

int main(int argc, char** argv) {
  return halo::mpi::run_program(argc, argv,
                                [&](const halo::mpi::Communicator& world) { return run(argc, argv, world); });
}
