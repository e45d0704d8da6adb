#include <doctest/doctest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "datasets/temporary_folder.hpp"
#include "halo/base/error.hpp"
#include "halo/nn/models.hpp"
#include "halo/train/options.hpp"
#include "halo/train/placement.hpp"
#include "halo/train/run_folder.hpp"

namespace train = halo::train;
using halo::datasets::TemporaryFolder;

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

TEST_CASE("metrics are on disk line by line") {
  const TemporaryFolder folder;
  train::RunFolder run(folder / "run", {{"epochs", 2}});
  run.append_metrics({{"epoch", 1}, {"train_loss", 0.1}});
  CHECK(halo::datasets::read_bytes(run.path() / "metrics.jsonl") == "{\"epoch\":1,\"train_loss\":0.1}\n");
  run.append_metrics({{"epoch", 2}});
  CHECK(halo::datasets::read_bytes(run.path() / "metrics.jsonl").back() == '\n');
  CHECK(nlohmann::json::parse(halo::datasets::read_bytes(run.path() / "config.json"))["epochs"] == 2);
}

TEST_CASE("weights are a safetensors file: header length, header, data at the offsets it names") {
  const TemporaryFolder folder;
  const halo::nn::Program model = halo::nn::build_model({.model = "gcn", .layers = 2, .hidden = 3}, 4, 2);
  std::vector<float> parameters(static_cast<std::size_t>(model.parameter_count()));
  for (std::size_t k = 0; k < parameters.size(); ++k) parameters[k] = static_cast<float>(k);
  train::RunFolder run(folder / "run", {});
  run.write_weights(model, parameters);
  const std::string bytes = halo::datasets::read_bytes(run.path() / "weights.safetensors");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  CHECK(length % 8 == 0);
  const auto header = nlohmann::json::parse(bytes.substr(sizeof(length), length));
  CHECK(header["layers.0.weight"]["shape"] == std::vector<int>{4, 3});
  CHECK(header["layers.1.bias"]["shape"] == std::vector<int>{2});
  CHECK(header["layers.1.weight"]["dtype"] == "F32");
  for (const auto& parameter : model.parameters) {
    const auto offset = header[parameter.name]["data_offsets"][0].get<std::size_t>();
    float first = -1.0F;
    std::memcpy(&first, bytes.data() + sizeof(length) + length + offset, sizeof(first));
    CHECK(first == static_cast<float>(parameter.offset));
  }
  CHECK(bytes.size() == sizeof(length) + length + sizeof(float) * parameters.size());
}

TEST_CASE("options out of range are input errors") {
  train::check_options({});
  CHECK_THROWS_AS(train::check_options({.epochs = 0}), halo::InputError);
  CHECK_THROWS_AS(train::check_options({.evaluate_every = 0}), halo::InputError);
  CHECK_THROWS_AS(train::check_options({.patience = -1}), halo::InputError);
  CHECK_THROWS_AS(train::check_options({.threads = -1}), halo::InputError);
}
