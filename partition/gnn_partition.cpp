// gnn_partition: cuts a dataset into parts once, offline, for gnn_train on any number of ranks up to the
// number of parts.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>

#include "halo/base/cpu.hpp"
#include "halo/base/error.hpp"
#include "halo/base/log.hpp"
#include "halo/partition/partition_dataset.hpp"

namespace {

using namespace halo;

struct Arguments {
  partition::PartitionJob job;
  std::string method = "metis";
  std::string scheme = "kway";
  std::string objective = "cut";
  std::vector<std::string> balance{"nodes"};
  std::string log_level = "info";
  bool quiet = false;
};

void add_metis_options(CLI::App& app, Arguments& arguments) {
  app.add_option("--method", arguments.method, "metis, random or block")->capture_default_str();
  app.add_option("--scheme", arguments.scheme, "METIS: kway or recursive")->capture_default_str();
  app.add_option("--objective", arguments.objective, "METIS: few cut edges (cut) or rows sent (volume)")
      ->capture_default_str();
  app.add_option("--balance", arguments.balance,
                 "METIS: what the parts share equally: nodes, edges, train; several by commas")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--imbalance", arguments.job.options.imbalance, "METIS: largest part / mean part allowed")
      ->capture_default_str();
}

void add_options(CLI::App& app, Arguments& arguments) {
  partition::PartitionJob& job = arguments.job;
  app.add_option("DATASET", job.dataset, "dataset folder or .npz file")->required();
  app.add_option("--parts", job.options.parts, "number of parts K: serves any number of ranks up to K")
      ->required();
  app.add_option("--out", job.out, "partitioned dataset to write: a new name or an empty folder")->required();
  add_metis_options(app, arguments);
  app.add_flag("--undirected", job.undirected, "add the reverse of every edge that lacks it");
  app.add_option("--split", job.split, "which of several splits (row of train_masks.npy)");
  app.add_option("--seed", job.options.seed, "seed of METIS and of the random method")->capture_default_str();
  app.add_option("--tile-rows", job.options.tile_rows, "rows of a tile, the unit of work in training")
      ->capture_default_str();
  app.add_option("--tiles-per-group", job.options.tiles_per_group, "tiles that a thread takes at once")
      ->capture_default_str();
  app.add_option("--threads", job.options.threads, "threads (default: all usable); the result is the same");
  app.add_flag("--quiet", arguments.quiet, "no table, warnings and errors only");
  app.add_option("--log-level", arguments.log_level, "trace, debug, info, warn, error or off")
      ->capture_default_str();
}

void run(Arguments& arguments) {
  set_up_log(arguments.log_level, arguments.quiet);
  partition::PartitionOptions& options = arguments.job.options;
  options.method = partition::parse_method(arguments.method);
  options.scheme = partition::parse_scheme(arguments.scheme);
  options.objective = partition::parse_objective(arguments.objective);
  options.balance.clear();
  for (const std::string& name : arguments.balance) options.balance.push_back(partition::parse_balance(name));
  const partition::PartitionResult result = partition::partition_dataset(arguments.job);
  if (arguments.quiet) return;
  const datasets::PartitionManifest& manifest = result.manifest;
  fmt::print("{}: {} nodes, {} {}edges, {} parts ({})\n\n{}\nwrote {} (run {})\n", manifest.name,
             manifest.num_nodes, manifest.num_edges, manifest.symmetric ? "" : "directed ", manifest.parts,
             arguments.method, to_table(result.quality), arguments.job.out.string(), manifest.run_id);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  arguments.job.options.threads = static_cast<int>(usable_cpus().size());
  CLI::App app("Cuts a dataset into parts for distributed training (partition/README.md).", "gnn_partition");
  app.set_version_flag("--version", "gnn_partition " HALO_VERSION);
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitStatus::kBadInput);
  }
  try {
    run(arguments);
    return static_cast<int>(ExitStatus::kDone);
  } catch (const std::exception& error) {
    return report_failure(error);
  }
}
