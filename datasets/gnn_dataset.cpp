// gnn_dataset: makes, imports and describes dataset folders. Results on stdout, log on stderr.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "generate_command.hpp"
#include "halo/base/error.hpp"
#include "halo/base/log.hpp"
#include "halo/base/timer.hpp"
#include "halo/datasets/dataset.hpp"
#include "halo/datasets/dataset_info.hpp"
#include "halo/datasets/split_edges.hpp"
#include "halo/datasets/staged_folder.hpp"

namespace halo::datasets {
namespace {

struct ReadArguments {
  std::string path;
  std::string format;
  std::string out;
  std::int64_t split = -1;
  bool json = false;
  SplitEdgesOptions edges;

  LoadOptions load_options() const {
    LoadOptions options;
    if (split >= 0) options.split = split;
    return options;
  }
};

void add_split_option(CLI::App& command, ReadArguments& arguments) {
  command
      .add_option("--split", arguments.split,
                  "row of train_masks / val_masks / test_masks (default: the *_idx files)")
      ->check(CLI::NonNegativeNumber);
}

/// Writes the dataset under its final name in one go.
void write_whole(const Dataset& dataset, StagedFolder& folder, const Timer& timer, const std::string& out) {
  write_dataset(folder.path(), dataset);
  folder.commit();
  spdlog::info("wrote {}: {} nodes, {} edges, {} feature columns, {} classes, in {:.2f} s", out,
               dataset.num_nodes, dataset.num_edges(), dataset.feature_cols(), dataset.num_classes,
               timer.seconds());
}

void run_generate(const GenerateCommand& command) {
  const Timer timer;
  StagedFolder folder(command.out());
  const Dataset dataset = command.make();
  spdlog::info("generated {} edges in {:.2f} s", dataset.num_edges(), timer.seconds());
  write_whole(dataset, folder, timer, command.out());
}

void run_import(const ReadArguments& arguments) {
  if (arguments.format != "npy" && arguments.format != "npz") {
    throw InputError({.what = "unknown format",
                      .where = "--format",
                      .found = arguments.format,
                      .expected = "npy (a folder of .npy files) or npz (one file)",
                      .next = "convert the data with NumPy; datasets/README.md describes the arrays"});
  }
  const Timer timer;
  StagedFolder folder(arguments.out);
  write_whole(load_dataset(arguments.path, arguments.load_options()), folder, timer, arguments.out);
}

void run_split_edges(const ReadArguments& arguments) {
  const Timer timer;
  StagedFolder folder(arguments.out);
  Dataset dataset = load_dataset(arguments.path);
  split_edges(dataset, arguments.edges);
  spdlog::info("held out {} validation and {} test edges, {} negatives each", dataset.val_links.size(),
               dataset.test_links.size(), arguments.edges.negatives);
  write_whole(dataset, folder, timer, arguments.out);
}

void add_split_edges(CLI::App& command, ReadArguments& arguments) {
  command.add_option("DATASET", arguments.path, "dataset folder or .npz file")->required();
  command.add_option("--out", arguments.out, "folder to make")->required();
  command.add_option("--val", arguments.edges.validation, "share of the edges for validation")
      ->capture_default_str();
  command.add_option("--test", arguments.edges.test, "share of the edges for the test")
      ->capture_default_str();
  command.add_option("--negatives", arguments.edges.negatives, "non-edges for each held-out edge")
      ->capture_default_str();
  command.add_option("--seed", arguments.edges.seed, "same seed, same bytes")->capture_default_str();
}

void run_info(const ReadArguments& arguments) {
  const DatasetInfo info = describe(load_dataset(arguments.path, arguments.load_options()));
  if (info.declared_undirected && !info.symmetric) {
    spdlog::warn(
        "dataset.json says the graph is undirected, but some edge stands there in one direction only");
  }
  const std::string text = arguments.json ? to_json(info).dump(2) + "\n" : to_text(info);
  std::fputs(text.c_str(), stdout);
}

int run(int argc, char** argv) {
  CLI::App app("Makes, imports and describes graph datasets (datasets/README.md)");
  app.set_version_flag("--version", "gnn_dataset " HALO_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  std::string log_level = "info";
  bool quiet = false;
  app.add_option("--log-level", log_level, "trace, debug, info, warn, error or off")->capture_default_str();
  app.add_flag("--quiet", quiet, "only warnings and errors");

  auto* generate = app.add_subcommand("generate", "make a synthetic dataset");
  const GenerateCommand generate_command(*generate);

  ReadArguments arguments;
  auto* import_command = app.add_subcommand("import", "check a dataset and write it in the normal form");
  import_command->add_option("IN", arguments.path, "dataset folder or .npz file")->required();
  import_command->add_option("--format", arguments.format, "npy or npz")->required();
  import_command->add_option("--out", arguments.out, "folder to make")->required();
  add_split_option(*import_command, arguments);

  auto* split_edges_command =
      app.add_subcommand("split-edges", "hold edges out of a graph, for link prediction");
  add_split_edges(*split_edges_command, arguments);

  auto* info = app.add_subcommand("info", "check a dataset and print its figures");
  info->add_option("DIR", arguments.path, "dataset folder or .npz file")->required();
  info->add_flag("--json", arguments.json, "print JSON");
  add_split_option(*info, arguments);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitStatus::kBadInput);
  }
  set_up_log(log_level, quiet);
  if (generate->parsed()) run_generate(generate_command);
  if (import_command->parsed()) run_import(arguments);
  if (split_edges_command->parsed()) run_split_edges(arguments);
  if (info->parsed()) run_info(arguments);
  return 0;
}

}  // namespace
}  // namespace halo::datasets

int main(int argc, char** argv) {
  try {
    return halo::datasets::run(argc, argv);
  } catch (const std::exception& error) {
    return halo::report_failure(error);
  }
}
