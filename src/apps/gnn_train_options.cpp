#include "gnn_train_options.hpp"

#include "model_options.hpp"

namespace halo::apps {
namespace {

void add_run_options(CLI::App& app, TrainArguments& arguments) {
  app.option_defaults()->group("Run")->always_capture_default();
  app.add_option("PARTS,--partition", arguments.train.partition,
                 "partitioned dataset, written by gnn_partition")
      ->required();
  app.add_option("--out", arguments.train.out, "run folder to write: a new name or an empty folder");
  app.add_option("--threads", arguments.train.threads,
                 "threads per rank; 0: the cores of a rank, shared fairly");
  app.add_option("--transport", arguments.transport, "how halo rows travel: nonblocking, blocking or p2p");
  app.add_flag("--quiet", arguments.quiet, "warnings and errors only");
  app.add_option("--log-level", arguments.log_level, "trace, debug, info, warn, error or off");
}

void add_input_options(CLI::App& app, TrainArguments& arguments) {
  app.option_defaults()->group("Input")->always_capture_default();
  app.add_flag("--row-normalise", arguments.train.row_normalise,
               "divide each feature row by the sum of its absolute values");
}

void add_training_options(CLI::App& app, TrainArguments& arguments) {
  train::TrainOptions& options = arguments.train;
  app.option_defaults()->group("Training")->always_capture_default();
  app.add_option("--epochs", options.epochs, "passes over the graph");
  app.add_option("--optimizer", options.optimizer.name, "adam or sgd");
  app.add_option("--lr", options.optimizer.learning_rate, "learning rate");
  app.add_option("--weight-decay", options.optimizer.weight_decay, "L2 penalty added to the gradient");
  app.add_option("--weight-decay-on", arguments.weight_decay_on, "layers it applies to: all or first")
      ->check(CLI::IsMember({"all", "first"}));
  app.add_option("--evaluate-every", options.evaluate_every, "epochs between evaluations");
  app.add_option("--patience", options.patience,
                 "stop after so many evaluations without a lower validation loss and keep the best weights; "
                 "0: run all");
  app.add_option("--seed", options.seed, "of initial weights and dropout");
}

}  // namespace

void add_train_options(CLI::App& app, TrainArguments& arguments) {
  add_run_options(app, arguments);
  add_input_options(app, arguments);
  add_model_options(app, arguments.train.model);
  add_training_options(app, arguments);
}

void resolve(TrainArguments& arguments) {
  arguments.train.transport = dist::parse_transport(arguments.transport);
  arguments.train.decay_first_layer_only = arguments.weight_decay_on == "first";
}

}  // namespace halo::apps
