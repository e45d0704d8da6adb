#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "datasets/temporary_folder.hpp"
#include "gnn_train_options.hpp"
#include "halo/base/error.hpp"
#include "option_file.hpp"

namespace apps = halo::apps;
using halo::datasets::TemporaryFolder;

namespace {

/// gnn_train's command line after parsing these words.
struct Parsed {
  explicit Parsed(std::vector<std::string> words) {
    apps::add_option_file(app);
    apps::add_train_options(app, arguments);
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    app.parse(words);
  }

  CLI::App app;
  apps::TrainArguments arguments;
};

halo::train::OptionRecord parse(std::vector<std::string> words) {
  Parsed parsed(std::move(words));
  return apps::record_of(parsed.app);
}

std::string refusal(const TemporaryFolder& folder, const std::string& text) {
  halo::datasets::write_bytes(folder / "run.toml", text);
  try {
    parse({"parts", "--config", (folder / "run.toml").string()});
  } catch (const halo::InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("what a record writes gives the same record again") {
  const TemporaryFolder folder;
  const std::vector<std::vector<std::string>> command_lines = {
      {"parts"},
      {"parts", "--out", "a \"quoted\" # name \\ with = all, of [it]", "--lr", "0.012345678901234567"},
      {"parts", "--seed", "18446744073709551615", "--epsilon", "1e-300", "--epochs", "7"},
      {"parts", "--row-normalise", "--nesterov", "--best-weights", "--quiet", "--no-root-weight"},
      {"parts", "--metric", "f1_macro,accuracy", "--hits-k", "3,4", "--class-weights", "1,0.5"},
  };
  for (const auto& words : command_lines) {
    CAPTURE(words.back());
    const auto record = parse(words);
    halo::datasets::write_bytes(folder / "config.toml", record.to_toml());
    const auto again = parse({"--config", (folder / "config.toml").string()});
    CHECK(again.to_toml() == record.to_toml());
    CHECK(again.to_json() == record.to_json());
  }
}

TEST_CASE("every option that a file may hold is in the record with its type") {
  const auto json = parse({"parts", "--weight-decay", "5e-4", "--no-root-weight"}).to_json();
  CHECK(json["partition"] == "parts");
  CHECK(json["weight_decay"] == 5e-4);
  CHECK(json["epochs"].is_number_integer());
  CHECK(json["nesterov"] == false);
  CHECK(json["no_root_weight"] == true);
  CHECK(json["hits_k"] == nlohmann::json({10, 20, 50, 100}));
  for (const char* key : {"config", "resume", "evaluate_only", "help", "version"}) CHECK(!json.contains(key));
}

TEST_CASE("the command line overrides the file, in both directions of a flag") {
  const TemporaryFolder folder;
  halo::datasets::write_bytes(
      folder / "run.toml",
      "# first\n\nlr = .5 # half\nmodel = 'sage'\r\nquiet = true\nmetric = [\"mae\", \"mse\"]\n");
  const std::string file = (folder / "run.toml").string();
  const auto from_file = parse({"parts", "--config", file}).to_json();
  CHECK(from_file["lr"] == 0.5);
  CHECK(from_file["model"] == "sage");
  CHECK(from_file["quiet"] == true);
  CHECK(from_file["metric"] == nlohmann::json({"mae", "mse"}));
  const auto overridden = parse({"parts", "--config", file, "--lr", "0.25", "--quiet=false"}).to_json();
  CHECK(overridden["lr"] == 0.25);
  CHECK(overridden["quiet"] == false);
}

TEST_CASE("a bad file is refused by file, line and key") {
  const TemporaryFolder folder;
  CHECK(refusal(folder, "lr = 0.5\n").empty());
  for (const auto& [text, key] :
       std::vector<std::pair<std::string, std::string>>{{"\nlearning-rate = 0.5\n", "learning-rate"},
                                                        {"\nhelp = true\n", "help"},
                                                        {"lr = 1\nlr = 2\n", "lr"},
                                                        {"\n[section]\n", "[section]"},
                                                        {"\nmodel = \"gcn\n", "model"},
                                                        {"\nhits-k = [1, 2\n", "hits-k"},
                                                        {"\nlr =\n", "lr"}}) {
    CAPTURE(text);
    const std::string said = refusal(folder, text);
    CHECK(said.find("run.toml, line 2") != std::string::npos);
    CHECK(said.find(key) != std::string::npos);
  }
}

TEST_CASE("every option of the model ends in its own field") {
  const auto model = Parsed({"parts",  "--model",          "gatv2", "--layers",
                             "3",      "--hidden",         "24",    "--dropout",
                             "0.11",   "--input-dropout",  "0.12",  "--activation",
                             "elu",    "--norm",           "batch", "--residual",
                             "linear", "--jumping",        "cat",   "--embedding",
                             "5",      "--aggregator",     "pool",  "--heads",
                             "6",      "--output-heads",   "7",     "--attention-dropout",
                             "0.13",   "--negative-slope", "0.14",  "--alpha",
                             "0.15",   "--theta",          "0.16",  "--hops",
                             "9",      "--decoder",        "mlp"})
                         .arguments.train.model;
  CHECK(model.model == "gatv2");
  CHECK(model.layers == 3);
  CHECK(model.hidden == 24);
  CHECK(model.dropout == 0.11);
  CHECK(model.input_dropout == 0.12);
  CHECK(model.activation == "elu");
  CHECK(model.norm == "batch");
  CHECK(model.residual == "linear");
  CHECK(model.jumping == "cat");
  CHECK(model.embedding == 5);
  CHECK(model.aggregator == "pool");
  CHECK(model.heads == 6);
  CHECK(model.output_heads == 7);
  CHECK(model.attention_dropout == 0.13);
  CHECK(model.negative_slope == 0.14);
  CHECK(model.alpha == 0.15);
  CHECK(model.theta == 0.16);
  CHECK(model.hops == 9);
  CHECK(model.decoder == "mlp");
}

TEST_CASE("every option of the optimiser and the schedule ends in its own field") {
  const auto train = Parsed({"parts",   "--optimizer",
                             "sgd",     "--lr",
                             "0.21",    "--weight-decay",
                             "0.22",    "--dense-weight-decay",
                             "0.23",    "--beta1",
                             "0.24",    "--beta2",
                             "0.25",    "--epsilon",
                             "0.26",    "--momentum",
                             "0.27",    "--clip-norm",
                             "0.28",    "--schedule",
                             "plateau", "--warmup-epochs",
                             "4",       "--step-size",
                             "6",       "--gamma",
                             "0.29",    "--min-lr",
                             "0.31",    "--plateau-patience",
                             "7",       "--plateau-factor",
                             "0.32"})
                         .arguments.train;
  CHECK(train.optimizer.name == "sgd");
  CHECK(train.optimizer.learning_rate == 0.21);
  CHECK(train.optimizer.weight_decay == 0.22);
  CHECK(train.dense_weight_decay == 0.23);
  CHECK(train.optimizer.beta1 == 0.24);
  CHECK(train.optimizer.beta2 == 0.25);
  CHECK(train.optimizer.epsilon == 0.26);
  CHECK(train.optimizer.momentum == 0.27);
  CHECK(train.clip_norm == 0.28);
  CHECK(train.schedule.name == "plateau");
  CHECK(train.schedule.warmup_epochs == 4);
  CHECK(train.schedule.step_size == 6);
  CHECK(train.schedule.gamma == 0.29);
  CHECK(train.schedule.min_learning_rate == 0.31);
  CHECK(train.schedule.plateau_patience == 7);
  CHECK(train.schedule.plateau_factor == 0.32);
}

TEST_CASE("every option of the run and the task ends in its own field") {
  auto arguments = Parsed({"parts",      "--out",
                           "run",        "--checkpoint-every",
                           "3",          "--keep-checkpoints",
                           "4",          "--threads",
                           "5",          "--transport",
                           "p2p",        "--epochs",
                           "6",          "--evaluate-every",
                           "7",          "--patience",
                           "8",          "--select",
                           "val_metric", "--seed",
                           "9",          "--initial-weights",
                           "w.file",     "--runs",
                           "11",         "--weight-decay-on",
                           "first",      "--class-weights",
                           "balanced",   "--label-smoothing",
                           "0.1",        "--regression-loss",
                           "mae",        "--metric",
                           "mrr,hits@5", "--negatives",
                           "12",         "--hits-k",
                           "13,14"})
                       .arguments;
  apps::resolve(arguments);
  const auto& train = arguments.train;
  CHECK(train.partition == "parts");
  CHECK(train.out == "run");
  CHECK(train.checkpoint_every == 3);
  CHECK(train.keep_checkpoints == 4);
  CHECK(train.threads == 5);
  CHECK(train.transport == halo::dist::Transport::kPointToPoint);
  CHECK(train.epochs == 6);
  CHECK(train.evaluate_every == 7);
  CHECK(train.patience == 8);
  CHECK(train.select == halo::train::Selection::kMetric);
  CHECK(train.seed == 9);
  CHECK(train.initial_weights == "w.file");
  CHECK(train.runs == 11);
  CHECK(train.decay_first_layer_only);
  CHECK(train.task.class_weights == "balanced");
  CHECK(train.task.label_smoothing == 0.1);
  CHECK(train.task.regression_loss == "mae");
  CHECK(train.task.metrics == std::vector<std::string>{"mrr", "hits@5"});
  CHECK(train.task.negatives == 12);
  CHECK(train.task.hits_k == std::vector<std::int64_t>{13, 14});
}

TEST_CASE("every flag sets its own field and no other") {
  using Arguments = apps::TrainArguments;
  const std::vector<std::pair<std::string, std::function<bool(const Arguments&)>>> flags = {
      {"--row-normalise", [](const Arguments& a) { return a.train.row_normalise; }},
      {"--row-normalise-l2", [](const Arguments& a) { return a.train.row_normalise_l2; }},
      {"--standardise", [](const Arguments& a) { return a.train.standardise; }},
      {"--input-linear", [](const Arguments& a) { return a.train.model.input_linear; }},
      {"--output-linear", [](const Arguments& a) { return a.train.model.output_linear; }},
      {"--no-root-weight", [](const Arguments& a) { return !a.train.model.root_weight; }},
      {"--l2-normalise", [](const Arguments& a) { return a.train.model.l2_normalise; }},
      {"--learn-epsilon", [](const Arguments& a) { return a.train.model.learn_epsilon; }},
      {"--inductive", [](const Arguments& a) { return a.train.task.inductive; }},
      {"--best-weights", [](const Arguments& a) { return a.train.best_weights; }},
      {"--nesterov", [](const Arguments& a) { return a.train.optimizer.nesterov; }},
      {"--quiet", [](const Arguments& a) { return a.ranks.quiet; }},
  };
  for (const auto& [given, ignored] : flags) {
    const Parsed parsed({"parts", given});
    for (const auto& [flag, is_set] : flags) {
      CAPTURE(given);
      CAPTURE(flag);
      CHECK(is_set(parsed.arguments) == (flag == given));
    }
  }
}
