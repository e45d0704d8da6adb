// gnn_infer: evaluates a trained model on a partitioned dataset, on any number of MPI ranks up to its number
// of parts, and writes what it says of every node.

#include <CLI/CLI.hpp>

#include "command_line.hpp"
#include "gnn_train_options.hpp"
#include "halo/base/error.hpp"
#include "halo/base/log.hpp"
#include "halo/mpi/program.hpp"
#include "halo/train/inference.hpp"
#include "option_file.hpp"

namespace {

using namespace halo;
namespace fs = std::filesystem;

struct Arguments {
  fs::path partition;
  fs::path run;     ///< run folder: options and weights
  fs::path config;  ///< file of options, without a run
  train::InferenceOptions inference;
  apps::RankArguments ranks;
};

void add_options(CLI::App& app, Arguments& arguments) {
  train::InferenceOptions& inference = arguments.inference;
  app.option_defaults()->group("Input")->always_capture_default();
  app.add_option("PARTS,--partition", arguments.partition, "partitioned dataset, written by gnn_partition")
      ->required();
  auto* run = app.add_option("--run", arguments.run, "run folder of gnn_train: options and weights");
  auto* weights = app.add_option("--weights", inference.weights,
                                 ".safetensors file to take instead of the run's weights");
  app.add_option("--config", arguments.config, "options of the model, in place of --run")
      ->excludes(run)
      ->needs(weights);
  app.option_defaults()->group("Output");
  app.add_option("--out", inference.out, "folder to write: a new name or an empty folder");
  app.add_flag("--predictions", inference.predictions, "write predictions.npy, the class of every node");
  app.add_flag("--logits", inference.logits, "write logits.npy, the outputs");
  app.add_flag("--probabilities", inference.probabilities, "write probabilities.npy, softmax or sigmoid");
  app.add_option("--embeddings", inference.embeddings,
                 "write embeddings_K.npy, the output of hidden layer K");
  app.option_defaults()->group("Run");
  apps::add_rank_options(app, arguments.ranks);
}

void check(const Arguments& arguments) {
  const train::InferenceOptions& inference = arguments.inference;
  if (arguments.run.empty() && arguments.config.empty()) {
    throw InputError({.what = "there is no model to evaluate",
                      .where = "--run",
                      .found = "neither --run nor --config",
                      .expected = "a run folder, or --config and --weights",
                      .next = "name the folder that gnn_train --out has written"});
  }
  const bool writes =
      inference.predictions || inference.logits || inference.probabilities || !inference.embeddings.empty();
  if (writes == !inference.out.empty()) return;
  throw InputError({.what = "what to write and where to go together",
                    .where = "--out",
                    .found = writes ? "files to write, but no folder" : "a folder, but nothing to write",
                    .expected = "--out and some of --predictions, --logits, --probabilities, --embeddings",
                    .next = writes ? "add --out" : "add --predictions, say"});
}

/// The options that the model was trained with, on the partition that is evaluated.
train::TrainOptions model_options(const Arguments& arguments) {
  const fs::path file = arguments.config.empty() ? arguments.run / "config.toml" : arguments.config;
  CLI::App app;
  apps::TrainArguments trained;
  apps::add_option_file(app, file.string());
  apps::add_train_options(app, trained);
  try {
    app.parse(std::vector<std::string>{arguments.partition.string()});
  } catch (const CLI::ParseError& error) {
    throw InputError({.what = "the options of the model cannot be read",
                      .where = file.string(),
                      .found = error.what(),
                      .expected = "options as gnn_train has written them",
                      .next = "correct --run or --config"});
  }
  trained.ranks = arguments.ranks;
  apps::resolve(trained);
  return trained.train;
}

int run(int argc, char** argv, const mpi::Communicator& world) {
  const bool leads = world.rank() == 0;
  CLI::App app{"Evaluates a trained model on a partitioned dataset: mpiexec -n P gnn_infer PARTS --run RUN"};
  app.set_version_flag("--version", "gnn_infer " HALO_VERSION);
  Arguments arguments;
  add_options(app, arguments);
  if (const int status = apps::parse(app, argc, argv, leads); status >= 0) return status;
  train::TrainOptions options;
  world.agree([&] {
    set_up_log(arguments.ranks.log_level, arguments.ranks.quiet,
               world.size() > 1 ? fmt::format("rank {}", world.rank()) : "");
    check(arguments);
    options = model_options(arguments);
    if (arguments.inference.weights.empty()) {
      arguments.inference.weights = arguments.run / "weights.safetensors";
    }
  });
  const auto scores = train::infer(world, options, arguments.inference);
  if (leads) apps::print_inference(scores, arguments.inference.out.string());
  return static_cast<int>(ExitStatus::kDone);
}

}  // namespace

int main(int argc, char** argv) {
  return halo::mpi::run_program(argc, argv,
                                [&](const halo::mpi::Communicator& world) { return run(argc, argv, world); });
}
