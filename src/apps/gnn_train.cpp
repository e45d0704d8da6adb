// gnn_train: trains a graph neural network on a partitioned dataset, on any number of MPI ranks up to its
// number of parts.

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "halo/base/error.hpp"
#include "halo/base/log.hpp"
#include "halo/mpi/program.hpp"
#include "halo/train/trainer.hpp"

namespace {

using namespace halo;

struct Arguments {
  train::TrainOptions train;
  std::string transport = "nonblocking";
  std::string weight_decay_on = "all";
  std::string log_level = "info";
  bool quiet = false;
};

void add_model_options(CLI::App& app, Arguments& arguments) {
  nn::ModelOptions& model = arguments.train.model;
  app.add_option("--model", model.model, "gcn, sage or mlp")->capture_default_str();
  app.add_option("--layers", model.layers, "number of layers")->capture_default_str();
  app.add_option("--hidden", model.hidden, "columns of the hidden layers")->capture_default_str();
  app.add_option("--dropout", model.dropout, "dropout before every layer but the first")
      ->capture_default_str();
  app.add_option("--input-dropout", model.input_dropout,
                 "dropout on the features; above 0 the first aggregation has to run every epoch")
      ->capture_default_str();
  app.add_flag("--row-normalise", arguments.train.row_normalise,
               "divide each feature row by the sum of its absolute values");
}

void add_training_options(CLI::App& app, Arguments& arguments) {
  train::TrainOptions& options = arguments.train;
  app.add_option("--epochs", options.epochs, "passes over the graph")->capture_default_str();
  app.add_option("--optimizer", options.optimizer.name, "adam or sgd")->capture_default_str();
  app.add_option("--lr", options.optimizer.learning_rate, "learning rate")->capture_default_str();
  app.add_option("--weight-decay", options.optimizer.weight_decay, "L2 penalty added to the gradient")
      ->capture_default_str();
  app.add_option("--weight-decay-on", arguments.weight_decay_on, "layers it applies to: all or first")
      ->check(CLI::IsMember({"all", "first"}))
      ->capture_default_str();
  app.add_option("--evaluate-every", options.evaluate_every, "epochs between evaluations")
      ->capture_default_str();
  app.add_option("--patience", options.patience,
                 "stop after so many evaluations without a lower validation loss and keep the best weights; "
                 "0: run all")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of initial weights and dropout")->capture_default_str();
}

void add_run_options(CLI::App& app, Arguments& arguments) {
  app.add_option("PARTS", arguments.train.partition, "partitioned dataset, written by gnn_partition")
      ->required();
  app.add_option("--out", arguments.train.out, "run folder to write: a new name or an empty folder");
  app.add_option("--threads", arguments.train.threads,
                 "threads per rank; 0: the cores of a rank, shared fairly")
      ->capture_default_str();
  app.add_option("--transport", arguments.transport, "how halo rows travel: nonblocking, blocking or p2p")
      ->capture_default_str();
  app.add_flag("--quiet", arguments.quiet, "warnings and errors only");
  app.add_option("--log-level", arguments.log_level, "trace, debug, info, warn, error or off")
      ->capture_default_str();
}

std::string format_accuracy(const nlohmann::json& value) {
  return value.is_null() ? "none (no such nodes)" : fmt::format("{:.4f}", value.get<double>());
}

void print_summary(const nlohmann::json& summary, const std::filesystem::path& out) {
  fmt::print("epochs {}{}, {:.4f} s each (median; training {:.4f} s), peak memory {:.1f} MiB per rank\n",
             summary["epochs"].get<std::int64_t>(),
             summary["stopped_early"].get<bool>() ? " (stopped early)" : "",
             summary["epoch_seconds_median"].get<double>(), summary["train_seconds_median"].get<double>(),
             static_cast<double>(summary["peak_bytes_max"].get<std::int64_t>()) / 0x1p20);
  fmt::print("validation accuracy {}\ntest accuracy {}\n", format_accuracy(summary["val_accuracy"]),
             format_accuracy(summary["test_accuracy"]));
  if (!out.empty()) fmt::print("run folder {}\n", out.string());
}

/// Parses on every rank (all see the same words); rank 0 speaks. Returns the exit status, or -1 to go on.
int parse(CLI::App& app, int argc, char** argv, bool speaks) {
  try {
    app.parse(argc, argv);
    return -1;
  } catch (const CLI::ParseError& error) {
    const bool asked =
        error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);  // --help, --version
    if (speaks) app.exit(error);
    return asked ? static_cast<int>(ExitStatus::kDone) : static_cast<int>(ExitStatus::kBadInput);
  }
}

int run(int argc, char** argv, const mpi::Communicator& world) {
  const bool leads = world.rank() == 0;
  CLI::App app{
      "Trains a graph neural network on a partitioned dataset: mpiexec -n P gnn_train PARTS --out RUN"};
  app.set_version_flag("--version", "gnn_train " HALO_VERSION);
  Arguments arguments;
  add_run_options(app, arguments);
  add_model_options(app, arguments);
  add_training_options(app, arguments);
  if (const int status = parse(app, argc, argv, leads); status >= 0) return status;
  world.agree([&] {
    set_up_log(arguments.log_level, arguments.quiet,
               world.size() > 1 ? fmt::format("rank {}", world.rank()) : "");
    arguments.train.transport = dist::parse_transport(arguments.transport);
    arguments.train.decay_first_layer_only = arguments.weight_decay_on == "first";
  });
  const auto summary = train::train(world, arguments.train, {.progress = !arguments.quiet});
  if (leads) print_summary(summary, arguments.train.out);
  return static_cast<int>(ExitStatus::kDone);
}

}  // namespace

int main(int argc, char** argv) {
  return halo::mpi::run_program(argc, argv,
                                [&](const halo::mpi::Communicator& world) { return run(argc, argv, world); });
}
