#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "datasets/temporary_folder.hpp"
#include "gnn_train_options.hpp"
#include "halo/base/error.hpp"
#include "option_file.hpp"

namespace apps = halo::apps;
using halo::datasets::TemporaryFolder;

namespace {

/// The options that gnn_train has after parsing these words.
halo::train::OptionRecord parse(std::vector<std::string> words) {
  CLI::App app;
  apps::TrainArguments arguments;
  apps::add_option_file(app);
  apps::add_train_options(app, arguments);
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  app.parse(words);
  return apps::record_of(app);
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
  for (const char* key : {"config", "resume", "help", "version"}) CHECK(!json.contains(key));
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
