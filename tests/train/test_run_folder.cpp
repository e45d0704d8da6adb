#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "datasets/temporary_folder.hpp"
#include "halo/base/error.hpp"
#include "halo/train/option_record.hpp"
#include "halo/train/options.hpp"
#include "halo/train/placement.hpp"
#include "halo/train/run_folder.hpp"

namespace train = halo::train;
using halo::datasets::TemporaryFolder;

namespace {

train::OptionRecord small_record() {
  return {.entries = {{"Run", "out", "there"},
                      {"Run", "threads", 2},
                      {"Training", "epochs", 20},
                      {"Training", "lr", 0.1},
                      {"Training", "weight-decay", 5e-4},
                      {"Training", "best-weights", true},
                      {"Training", "schedule", "step"}}};
}

}  // namespace

TEST_CASE("CPU numbers are written as ranges") {
  CHECK(train::cpu_ranges({}).empty());
  CHECK(train::cpu_ranges({3}) == "3");
  CHECK(train::cpu_ranges({0, 1, 2, 8, 10, 11}) == "0-2,8,10-11");
}

TEST_CASE("a run goes to a new name or an empty folder, never over something") {
  const TemporaryFolder folder;
  train::check_run_path(folder / "new");
  train::check_run_path(folder.path());
  halo::datasets::write_bytes(folder / "file", "x");
  CHECK_THROWS_AS(train::check_run_path(folder / "file"), halo::InputError);
  CHECK_THROWS_AS(train::check_run_path(folder.path()), halo::InputError);
}

TEST_CASE("a run folder has its options from the first moment, and a run in it is continued, not replaced") {
  const TemporaryFolder folder;
  const auto path = folder / "a" / "run";
  CHECK(!train::has_run(path));
  CHECK_THROWS_AS(train::stored_options(path), halo::InputError);
  train::create_run_folder(path, small_record());
  CHECK(train::has_run(path));
  CHECK(train::stored_options(path) == small_record().to_json());
  CHECK(halo::datasets::read_bytes(path / "config.toml") == small_record().to_toml());
  CHECK_THROWS_WITH_AS(train::create_run_folder(path, small_record()), doctest::Contains("--resume"),
                       halo::InputError);
  CHECK(train::stored_summary(path).is_null());
  train::write_summary(path, {{"epochs", 20}});
  CHECK(train::stored_summary(path)["epochs"] == 20);
  train::OptionRecord longer = small_record();
  longer.set("epochs", 30);
  train::renew_run_folder(path, longer);
  CHECK(train::stored_options(path)["epochs"] == 30);
  CHECK(train::stored_summary(path).is_null());
}

TEST_CASE("metrics are on disk line by line, and are cut back to where a checkpoint was") {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.jsonl";
  std::int64_t bytes = 0;
  {
    train::MetricsFile metrics(folder.path(), 0);
    metrics.append({{"epoch", 1}, {"train_loss", 0.1}});
    CHECK(halo::datasets::read_bytes(path) == "{\"epoch\":1,\"train_loss\":0.1}\n");
    bytes = metrics.sync();
    metrics.append({{"epoch", 2}});
  }
  halo::datasets::write_bytes(path, halo::datasets::read_bytes(path) + "{\"epo");  // killed while writing
  train::MetricsFile metrics(folder.path(), bytes);
  metrics.append({{"epoch", 2}, {"train_loss", 0.05}});
  const auto lines = metrics.lines();
  REQUIRE(lines.size() == 2);
  CHECK(lines[1]["train_loss"] == 0.05);
  CHECK_THROWS_AS(train::MetricsFile(folder.path(), 1000), halo::InputError);
}

TEST_CASE("options are written under headings as TOML, and by key as JSON") {
  CHECK(small_record().to_toml() ==
        "# Run\nout = \"there\"\nthreads = 2\n\n# Training\nepochs = 20\nlr = 0.1\nweight-decay = 0.0005\n"
        "best-weights = true\nschedule = \"step\"\n");
  CHECK(small_record().to_json()["weight_decay"] == 5e-4);
}

TEST_CASE("a run is continued with the options that decide its result") {
  const nlohmann::json stored = small_record().to_json();
  const auto refused = [&](const std::string& name, const nlohmann::json& value) {
    train::OptionRecord record = small_record();
    record.set(name, value);
    try {
      train::check_continues(stored, record, "config.json");
    } catch (const halo::InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused("lr", 0.1).empty());
  CHECK(refused("threads", 7).empty());
  CHECK(refused("out", "elsewhere").empty());
  CHECK(refused("epochs", 21).empty());
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, nlohmann::json>>{{"lr", 0.2},
                                                           {"weight-decay", 0.0},
                                                           {"best-weights", false},
                                                           {"schedule", "plateau"},
                                                           {"epochs", 19}}) {
    CAPTURE(name);
    const std::string said = refused(name, value);
    CHECK(said.find("--" + name) != std::string::npos);
    CHECK(said.find(value.dump()) != std::string::npos);
    CHECK(said.find(stored[train::key_of(name)].dump()) != std::string::npos);
  }
  nlohmann::json cosine = stored;
  cosine["schedule"] = "cosine";
  train::OptionRecord record = small_record();
  record.set("schedule", "cosine");
  train::check_continues(cosine, record, "config.json");
  record.set("epochs", 21);  // another curve from the first epoch on
  CHECK_THROWS_AS(train::check_continues(cosine, record, "config.json"), halo::InputError);
}

TEST_CASE("options out of range are input errors") {
  train::check_options({});
  CHECK_THROWS_AS(train::check_options({.epochs = 0}), halo::InputError);
  CHECK_THROWS_AS(train::check_options({.evaluate_every = 0}), halo::InputError);
  CHECK_THROWS_AS(train::check_options({.patience = -1}), halo::InputError);
  CHECK_THROWS_AS(train::check_options({.threads = -1}), halo::InputError);
  CHECK_THROWS_AS(train::check_options({.runs = 0}), halo::InputError);
  CHECK_THROWS_AS(train::check_options({.clip_norm = -1.0}), halo::InputError);
  CHECK_THROWS_AS(train::check_options({.out = "x", .keep_checkpoints = 0}), halo::InputError);
  CHECK_THROWS_AS(train::check_options({.checkpoint_every = 1}), halo::InputError);  // nowhere to write it
  CHECK_THROWS_AS(train::check_options({.optimizer = {.name = "nothing"}}), halo::InputError);
  CHECK_THROWS_AS(train::check_options({.schedule = {.name = "nothing"}}), halo::InputError);
}
