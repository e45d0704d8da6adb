// What read_manifest() must find out about a folder before anyone trains on it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>

#include "datasets/temporary_folder.hpp"
#include "halo/datasets/partitioned_dataset.hpp"
#include "halo/partition/write_partition.hpp"
#include "partition/small_dataset.hpp"

using namespace halo;
using namespace halo::partition;
using datasets::contains;
using datasets::input_error_of;
using datasets::read_bytes;
using datasets::TemporaryFolder;
using datasets::write_bytes;
using Json = nlohmann::json;

namespace {

/// A partitioned dataset in a temporary folder, to be spoilt.
struct Parts {
  explicit Parts(std::uint64_t seed = 0) {
    const EdgeList edges = random_graph({.nodes = 60, .edges = 200, .directed = true}, 1);
    const datasets::Dataset dataset = small_dataset(edges);
    write_partition(path(), dataset,
                    partition_graph(edges.csr(), train_flags(dataset),
                                    {.parts = 4, .method = Method::kRandom, .seed = seed}),
                    Json::object());
  }
  std::filesystem::path path() const { return folder / "parts"; }
  std::string problem() const {
    return input_error_of([this] { datasets::read_manifest(path()); });
  }
  /// The complaint about a manifest that was changed.
  std::string problem_after(const std::function<void(Json&)>& change) const {
    const std::string text = read_bytes(path() / "partition.json");
    Json json = Json::parse(text);
    change(json);
    write_bytes(path() / "partition.json", json.dump());
    const std::string found = problem();
    write_bytes(path() / "partition.json", text);
    return found;
  }
  TemporaryFolder folder;
};

}  // namespace

TEST_CASE("a whole folder is accepted; no folder, an unfinished one and a foreign one are told apart") {
  const Parts parts;
  CHECK(parts.problem() == "");
  CHECK(contains(input_error_of([&] { datasets::read_manifest(parts.folder / "elsewhere"); }),
                 "no such folder"));
  const std::string manifest = read_bytes(parts.path() / "partition.json");
  std::filesystem::remove(parts.path() / "partition.json");
  CHECK(contains(parts.problem(), "unfinished"));
  write_bytes(parts.path() / "partition.json", manifest.substr(0, manifest.size() / 2));
  CHECK(contains(parts.problem(), "not JSON"));
  for (const char* foreign : {"{}", "[1, 2]", "3", "{\"format\": \"other\"}"}) {
    write_bytes(parts.path() / "partition.json", foreign);
    CHECK(contains(parts.problem(), "not a partitioned dataset"));
  }
}

TEST_CASE("a manifest of another version, or one that contradicts itself, is refused") {
  const Parts parts;
  CHECK(parts.problem_after([](Json&) {}) == "");
  CHECK(contains(parts.problem_after([](Json& j) { j["format_version"] = 2; }), "another format version"));
  CHECK(contains(parts.problem_after([](Json& j) { j["parts"] = 0; }), "\"parts\""));
  CHECK(contains(parts.problem_after([](Json& j) { j["parts"] = 1e10; }), "\"parts\""));
  CHECK(contains(parts.problem_after([](Json& j) { j["num_edges"] = "many"; }), "\"num_edges\""));
  CHECK(contains(parts.problem_after([](Json& j) { j["num_nodes"] = 2.5; }), "\"num_nodes\""));
  CHECK(contains(parts.problem_after([](Json& j) { j["num_nodes"] = 61; }), "does not fit the counts"));
  CHECK(contains(parts.problem_after([](Json& j) { j["files"]["features.npy"]["dtype"] = "<f8"; }),
                 "features.npy"));
  CHECK(contains(parts.problem_after([](Json& j) { j["files"]["labels.npy"]["checksum_row"] = 0; }),
                 "labels.npy"));
  CHECK(contains(parts.problem_after([](Json& j) { j["files"].erase("indices.npy"); }), "indices.npy"));
  CHECK(contains(parts.problem_after([](Json& j) { j["files"] = 1; }), "\"files\""));
  CHECK(contains(parts.problem_after([](Json& j) { j["symmetric"] = true; }), "wrong row"));
  CHECK(contains(parts.problem_after([](Json& j) { j["whole_file_checksums"].erase("checksums.npy"); }),
                 "checksums.npy"));
  for (const char* key :
       {"name", "task", "weighted", "tile_rows", "run_id", "files", "options", "quality", "train_nodes"}) {
    CAPTURE(key);
    CHECK(contains(parts.problem_after([key](Json& j) { j.erase(key); }), fmt::format("has no \"{}\"", key)));
  }
}

TEST_CASE("missing, cut and mixed files are found") {
  const Parts parts;
  const Parts other(1);
  for (const auto& [name, file] : datasets::read_manifest(parts.path()).files) {
    CAPTURE(name);
    const std::string bytes = read_bytes(parts.path() / name);
    write_bytes(parts.path() / name, bytes.substr(0, bytes.size() - 1));
    CHECK(contains(parts.problem(), name + " is cut"));
    std::filesystem::remove(parts.path() / name);
    CHECK(contains(parts.problem(), name + " is missing"));
    write_bytes(parts.path() / name, bytes);
  }
  const std::string checksums = read_bytes(parts.path() / "checksums.npy");
  write_bytes(parts.path() / "checksums.npy", read_bytes(other.path() / "checksums.npy"));
  CHECK(contains(parts.problem(), "from another run"));
  std::filesystem::remove(parts.path() / "checksums.npy");
  CHECK(contains(parts.problem(), "checksums.npy is missing"));
  write_bytes(parts.path() / "checksums.npy", checksums);
  CHECK(parts.problem() == "");
}

TEST_CASE("checksums of pieces and of the whole agree") {
  const std::string text(100000, 'x');
  datasets::ChecksumStream stream;
  stream.update(text.data(), 70000);
  stream.update(text.data() + 70000, 30000);
  CHECK(stream.take() == datasets::slice_checksum(text.data(), text.size()));
  CHECK(stream.take() == datasets::slice_checksum(nullptr, 0));
  const TemporaryFolder folder;
  write_bytes(folder / "file", text);
  CHECK(datasets::file_checksum(folder / "file") ==
        fmt::format("{:016x}", datasets::slice_checksum(text.data(), text.size())));
  CHECK_THROWS_AS(datasets::file_checksum(folder / "none"), Error);
}
