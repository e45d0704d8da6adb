#include "gnn_train_options.hpp"

#include <fmt/format.h>

#include "halo/base/byte_count.hpp"
#include "halo/base/error.hpp"
#include "halo/train/run_folder.hpp"
#include "model_options.hpp"
#include "task_options.hpp"

namespace halo::apps {
namespace {

void add_run_options(CLI::App& app, TrainArguments& arguments) {
  train::TrainOptions& options = arguments.train;
  app.option_defaults()->group("Run")->always_capture_default();
  app.add_option("PARTS,--partition", options.partition, "partitioned dataset, written by gnn_partition")
      ->required();
  app.add_option("--out", options.out, "run folder to write: a new name or an empty folder");
  app.add_option("--resume", arguments.resume,
                 "continue the run in this folder, with its options unless given again")
      ->configurable(false);
  app.add_flag("--evaluate-only", arguments.evaluate_only,
               "only evaluate the --initial-weights, as gnn_infer does; --out then gets metrics.json")
      ->configurable(false);
  app.add_flag("--plan", arguments.plan, "only say what memory and time the run would need, as gnn_plan does")
      ->configurable(false);
  app.add_option("--memory-limit", arguments.memory_limit,
                 "refuse a run that needs more on any rank, 4G say; without: what the host has free");
  app.add_option("--checkpoint-every", options.checkpoint_every,
                 "epochs between checkpoints; 0: only when TERM, USR1 or INT stops the run");
  app.add_option("--keep-checkpoints", options.keep_checkpoints, "the newest ones that stay");
  app.add_option(
         "--trace", options.trace,
         "write what every rank and thread did and when to this file (JSON; open it at ui.perfetto.dev), "
         "and say where an epoch went")
      ->configurable(false);
  add_rank_options(app, arguments.ranks);
}

void add_input_options(CLI::App& app, TrainArguments& arguments) {
  app.option_defaults()->group("Input")->always_capture_default();
  app.add_flag("--row-normalise", arguments.train.row_normalise,
               "divide each feature row by the sum of its absolute values");
  app.add_flag("--row-normalise-l2", arguments.train.row_normalise_l2,
               "divide each feature row by its length");
  app.add_flag("--standardise", arguments.train.standardise,
               "bring each feature column to mean 0 and deviation 1 over all nodes");
}

void add_training_options(CLI::App& app, TrainArguments& arguments) {
  train::TrainOptions& options = arguments.train;
  app.option_defaults()->group("Training")->always_capture_default();
  app.add_option("--epochs", options.epochs, "passes over the graph");
  app.add_option("--evaluate-every", options.evaluate_every, "epochs between evaluations");
  app.add_option("--patience", options.patience,
                 "stop after so many evaluations without a better one and keep the best weights; 0: run all");
  app.add_flag("--best-weights", options.best_weights,
               "keep the weights of the best evaluation, not the last");
  app.add_option(
      "--select", arguments.select,
      "what makes an evaluation better: val_loss, val_metric (the task's first metric) or val_both (as "
      "good as ever in both; patience counts from where one was)");
  app.add_option("--seed", options.seed, "of initial weights and dropout");
  app.add_option("--initial-weights", options.initial_weights,
                 "begin with the weights of this .safetensors file (and the embedding.npy beside it)");
  app.add_option("--runs", options.runs,
                 "train so often, with seeds s, s + 1, ..., and give mean and standard deviation");
}

void add_optimizer_options(CLI::App& app, TrainArguments& arguments) {
  optim::OptimizerOptions& options = arguments.train.optimizer;
  app.option_defaults()->group("Optimizer")->always_capture_default();
  app.add_option("--optimizer", options.name, "adam, adamw or sgd");
  app.add_option("--lr", options.learning_rate, "learning rate");
  app.add_option("--weight-decay", options.weight_decay, "L2 penalty in the gradient; adamw: decoupled");
  app.add_option("--weight-decay-on", arguments.weight_decay_on, "layers it applies to: all or first")
      ->check(CLI::IsMember({"all", "first"}));
  app.add_option(
      "--dense-weight-decay", arguments.train.dense_weight_decay,
      "weight decay of what is no graph layer (the ends of gcnii, skips, norms); negative: as the layers");
  app.add_option("--beta1", options.beta1, "adam, adamw: decay of the mean of gradients");
  app.add_option("--beta2", options.beta2, "adam, adamw: decay of the mean of squares");
  app.add_option("--epsilon", options.epsilon, "adam, adamw: beside the root of the squares");
  app.add_option("--momentum", options.momentum, "sgd");
  app.add_flag("--nesterov", options.nesterov, "sgd: Nesterov's momentum");
  app.add_option("--clip-norm", arguments.train.clip_norm,
                 "longest gradient; longer ones are scaled; 0: any");
}

void add_schedule_options(CLI::App& app, TrainArguments& arguments) {
  optim::ScheduleOptions& options = arguments.train.schedule;
  app.option_defaults()->group("Learning rate schedule")->always_capture_default();
  app.add_option("--schedule", options.name, "constant, step, cosine or plateau (of the validation loss)");
  app.add_option("--warmup-epochs", options.warmup_epochs, "epochs of linear warm-up before");
  app.add_option("--step-size", options.step_size, "step: epochs between reductions");
  app.add_option("--gamma", options.gamma, "step: factor of a reduction");
  app.add_option("--min-lr", options.min_learning_rate, "cosine: where it ends; plateau: never below");
  app.add_option("--plateau-patience", options.plateau_patience,
                 "plateau: evaluations without improvement that are borne");
  app.add_option("--plateau-factor", options.plateau_factor, "plateau: factor of a reduction");
}

void check_resumption(const CommandLine& line) {
  for (const auto& [option, value] : {std::pair("--out", line.out), std::pair("--config", line.config),
                                      std::pair("--initial-weights", line.initial_weights)}) {
    if (value.empty()) continue;
    throw InputError({.what = "--resume takes the folder, the options and the weights from the run",
                      .where = fmt::format("{} beside --resume", option),
                      .found = value,
                      .expected = "none of --out, --config and --initial-weights",
                      .next = "leave it out"});
  }
}

void check_evaluation(const CommandLine& line) {
  const auto refuse = [](bool given, const char* option, const std::string& found) {
    if (!given) return;
    throw InputError({.what = "an evaluation trains nothing",
                      .where = fmt::format("{} beside --evaluate-only", option),
                      .found = found,
                      .expected = fmt::format("no {}", option),
                      .next = "leave one of them out"});
  };
  refuse(!line.resume.empty(), "--resume", line.resume);
  refuse(line.checkpoint_every != 0, "--checkpoint-every", std::to_string(line.checkpoint_every));
  refuse(!line.trace.empty(), "--trace", line.trace);
  refuse(line.runs != 1, "--runs", std::to_string(line.runs));
  if (!line.initial_weights.empty()) return;
  throw InputError({.what = "there are no weights to evaluate",
                    .where = "--evaluate-only",
                    .found = "no --initial-weights on the command line",
                    .expected = "a .safetensors file with the weights of the model",
                    .next = "name it, --initial-weights RUN/weights.safetensors say"});
}

}  // namespace

void add_train_options(CLI::App& app, TrainArguments& arguments) {
  add_run_options(app, arguments);
  add_input_options(app, arguments);
  add_model_options(app, arguments.train.model);
  add_task_options(app, arguments.train.task, arguments.train.model);
  add_training_options(app, arguments);
  add_optimizer_options(app, arguments);
  add_schedule_options(app, arguments);
}

void resolve(TrainArguments& arguments) {
  train::TrainOptions& options = arguments.train;
  options.threads = arguments.ranks.threads;
  options.transport = dist::parse_transport(arguments.ranks.transport);
  options.decay_first_layer_only = arguments.weight_decay_on == "first";
  if (!arguments.memory_limit.empty())
    options.memory_limit = parse_byte_count(arguments.memory_limit, "--memory-limit");
  options.select = train::parse_selection(arguments.select);
  options.resume = !arguments.resume.empty();
  if (options.resume) options.out = arguments.resume;
}

CommandLine read_command_line(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App scan;
  scan.set_help_flag();
  scan.allow_extras();
  scan.add_option("--resume", line.resume);
  scan.add_option("--out", line.out);
  scan.add_option("--config", line.config);
  scan.add_option("--initial-weights", line.initial_weights);
  scan.add_option("--trace", line.trace);
  scan.add_option("--checkpoint-every", line.checkpoint_every);
  scan.add_option("--runs", line.runs);
  scan.add_flag("--evaluate-only", line.evaluate_only);
  try {
    scan.parse(argc, argv);
  } catch (const CLI::ParseError&) {
    return {};
  }
  if (line.evaluate_only) check_evaluation(line);
  if (!line.resume.empty()) check_resumption(line);
  return line;
}

std::filesystem::path stored_option_file(const CommandLine& line) {
  if (line.resume.empty()) return {};
  train::stored_options(line.resume);  // says what is wrong where there is no run
  return std::filesystem::path(line.resume) / "config.toml";
}

}  // namespace halo::apps
