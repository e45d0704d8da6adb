// gnn_plan: says, without training, what memory and time training on a partitioned dataset needs on some
// numbers of ranks. One process, no MPI: it reads the graph once for each number of ranks.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

#include "command_line.hpp"
#include "gnn_train_options.hpp"
#include "halo/base/byte_count.hpp"
#include "halo/base/error.hpp"
#include "halo/base/log.hpp"
#include "option_file.hpp"
#include "plan_report.hpp"

namespace {

using namespace halo;

struct Arguments {
  apps::TrainArguments train;
  std::vector<int> ranks{1};
  int ranks_per_host = 0;
  std::string link_bandwidth;
  double link_latency = 0.0;
  bool json = false;
};

void add_options(CLI::App& app, Arguments& arguments) {
  app.option_defaults()->group("Plan")->always_capture_default();
  app.add_option("--ranks", arguments.ranks, "numbers of ranks to plan for: 1,2,4")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->configurable(false);
  app.add_option("--ranks-per-host", arguments.ranks_per_host,
                 "ranks that share the memory and the cores of one machine like this; 0: all that its cores "
                 "have threads for")
      ->check(CLI::NonNegativeNumber)
      ->configurable(false);
  app.add_option("--link-bandwidth", arguments.link_bandwidth,
                 "bytes per second from rank to rank, 1GB say; without: as this machine copies memory")
      ->configurable(false);
  app.add_option("--link-latency", arguments.link_latency, "seconds of a small message")
      ->check(CLI::NonNegativeNumber)
      ->configurable(false);
  app.add_flag("--json", arguments.json, "print JSON")->configurable(false);
  apps::add_train_options(app, arguments.train);
}

/// Block placement: `each` ranks on a host like this one.
std::vector<train::MemoryNeed> needs_of(int ranks, int each) {
  std::vector<train::MemoryNeed> needs;
  for (int rank = 0; rank < ranks; ++rank) {
    needs.push_back({.host = fmt::format("{} of {}", rank / each + 1, (ranks + each - 1) / each),
                     .resident = 0,
                     .free = free_memory(),
                     .purposes = {}});
  }
  return needs;
}

apps::PlannedRun plan(const dist::PartitionScan& scan, train::EpochEstimator& estimator,
                      const Arguments& arguments, int ranks) {
  const train::TrainOptions& options = arguments.train.train;
  const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int room = std::max(1, cores / std::max(1, options.threads));
  const int each = std::min(ranks, arguments.ranks_per_host > 0 ? arguments.ranks_per_host : room);
  const int threads = options.threads > 0 ? options.threads : std::max(1, cores / each);
  apps::PlannedRun run;
  run.plan = train::plan_run(scan, options, ranks, threads, train::typical_program_bytes(each));
  run.hosts = {.ranks_each = each, .cores = cores};
  if (!arguments.link_bandwidth.empty())
    run.link.bandwidth = static_cast<double>(parse_byte_count(arguments.link_bandwidth, "--link-bandwidth"));
  run.link.latency = arguments.link_latency;
  run.epoch = estimator.estimate(run.plan, run.link, run.hosts);
  run.unfit = apps::why_unfit(run.plan, needs_of(ranks, each), options.memory_limit, scan.manifest().parts);
  return run;
}

int run(int argc, char** argv) {
  CLI::App app{"Plans a run of gnn_train: gnn_plan PARTS --ranks 1,2,4 and the options of gnn_train"};
  app.set_version_flag("--version", "gnn_plan " HALO_VERSION);
  Arguments arguments;
  apps::add_option_file(app);
  add_options(app, arguments);
  if (const int status = apps::parse(app, argc, argv, /*speaks=*/true); status >= 0) return status;
  set_up_log(arguments.train.ranks.log_level, arguments.train.ranks.quiet, "");
  apps::resolve(arguments.train);
  const train::TrainOptions& options = arguments.train.train;
  train::check_options(options);
  const dist::PartitionScan scan = train::scan_for(options);
  train::EpochEstimator estimator(scan, options);
  std::vector<apps::PlannedRun> runs;
  for (const int ranks : arguments.ranks) runs.push_back(plan(scan, estimator, arguments, ranks));
  if (arguments.json) {
    fmt::print("{}\n", apps::plans_to_json(scan.manifest(), options, runs).dump(2));
  } else {
    apps::print_plans(scan.manifest(), options, runs);
  }
  return static_cast<int>(ExitStatus::kDone);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    return static_cast<int>(halo::report_failure(error));
  }
}
