// gnn_dataset as a user meets it: exit statuses, streams, and what is left on disk.
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "halo/datasets/dataset.hpp"
#include "small_dataset.hpp"

namespace halo::datasets {
namespace {

struct Result {
  int status = -1;
  std::string out, error;
};

/// Runs the tool in a shell, in an empty folder.
class Tool {
 public:
  Result run(const std::string& arguments, const std::string& before = "") const {
    const std::string command = "cd " + folder_.path().string() + "/work && " + before + " '" + GNN_DATASET +
                                "' " + arguments + " >../out 2>../error";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_bytes(folder_ / "out"),
            read_bytes(folder_ / "error")};
  }
  std::filesystem::path work() const { return folder_ / "work"; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(work()))
      names.push_back(entry.path().filename());
    return names;
  }

 private:
  struct WorkFolder : TemporaryFolder {
    WorkFolder() { std::filesystem::create_directory(path() / "work"); }
  };
  WorkFolder folder_;
};

}  // namespace

TEST_CASE("version and help go to stdout with status 0") {
  const Tool tool;
  const Result version = tool.run("--version");
  CHECK(version.status == 0);
  CHECK(version.out == "gnn_dataset " HALO_VERSION "\n");
  const Result help = tool.run("generate --help");
  CHECK(help.status == 0);
  CHECK(contains(help.out, "--homophily"));
}

TEST_CASE("every kind is generated and described") {
  const Tool tool;
  for (const std::string kind : {"karate", "grid", "star", "sbm", "rmat"}) {
    CAPTURE(kind);
    CHECK(tool.run("--quiet generate --seed 4 --kind " + kind + " --out " + kind).status == 0);
    const Result info = tool.run("info --json " + kind);
    CHECK(info.status == 0);
    const auto json = nlohmann::json::parse(info.out);
    CHECK(json["name"] == kind);
    CHECK(json["symmetric"] == true);
    CHECK(json["duplicates"] == 0);
    CHECK(json["split"]["train"] > 0);
  }
  const Result karate = tool.run("info karate");
  CHECK(contains(karate.out, "156 (0 loops, 0 duplicates), undirected"));
  CHECK(contains(karate.out, "min 1, mean 4.59, max 17"));
}

TEST_CASE("the options of a kind decide its size") {
  const Tool tool;
  const std::vector<std::pair<std::string, std::int64_t>> sizes = {{"grid --rows 3 --cols 4", 12},
                                                                   {"rmat --scale 5 --edge-factor 2", 32},
                                                                   {"star --nodes 7", 7},
                                                                   {"sbm --nodes 50", 50}};
  for (const auto& [kind, nodes] : sizes) {
    CAPTURE(kind);
    const std::string folder = kind.substr(0, kind.find(' '));
    CHECK(tool.run("--quiet generate --kind " + kind + " --out " + folder).status == 0);
    const auto info = nlohmann::json::parse(tool.run("info --json " + folder).out);
    CHECK(info["nodes"] == nodes);
    // A grid of 3 x 4 has 3 x 3 + 2 x 4 edges, each in both directions; R-MAT drops some of those it draws.
    if (folder == "grid") CHECK(info["edges"] == 34);
    if (folder == "rmat") CHECK(info["edges"] <= 2 * 2 * 32);
  }
}

TEST_CASE("the same seed writes the same bytes with any number of threads") {
  const Tool tool;
  const std::string common = "--quiet generate --kind sbm --nodes 9000 --features 3 --seed 5";
  CHECK(tool.run(common + " --threads 1 --out one").status == 0);
  CHECK(tool.run(common + " --threads 2 --out two").status == 0);
  for (const auto& entry : std::filesystem::directory_iterator(tool.work() / "one")) {
    CHECK(read_bytes(entry.path()) == read_bytes(tool.work() / "two" / entry.path().filename()));
  }
}

TEST_CASE("import writes the normal form of a folder") {
  const Tool tool;
  SmallDataset data;
  CHECK(tool.run("import --format npy --out copy " + data.path().string()).status == 0);
  const Dataset copy = load_dataset(tool.work() / "copy");
  CHECK(copy.targets == std::vector<NodeId>{1, 2, 3});
  CHECK(copy.labels == std::vector<std::int32_t>{0, 1, 1, -1});
  const Result other = tool.run("import --format ogb --out other " + data.path().string());
  CHECK(other.status == 2);
  CHECK(contains(other.error, "npz"));
}

TEST_CASE("split-edges makes a link prediction dataset") {
  const Tool tool;
  CHECK(tool.run("--quiet generate --kind karate --out karate").status == 0);
  const std::string common = "split-edges karate --val 0.1 --test 0.2 --negatives 4 --seed 3 --out ";
  CHECK(tool.run(common + "a").status == 0);
  CHECK(tool.run(common + "b").status == 0);
  for (const char* file : {"edge_index.npy", "test_edges.npy", "test_negatives.npy", "dataset.json"})
    CHECK(read_bytes(tool.work() / "a" / file) == read_bytes(tool.work() / "b" / file));
  const Result info = tool.run("info a");
  CHECK(contains(info.out, "8 validation and 16 test edges with 4 negatives each"));
  CHECK(contains(info.out, "edges        108"));
  CHECK(nlohmann::json::parse(tool.run("info --json a").out)["held_out"]["test"] == 16);
  CHECK(tool.run("split-edges karate --test 2 --out c").status == 2);
}

TEST_CASE("info warns where dataset.json calls a one-way graph undirected") {
  const Tool tool;
  SmallDataset data;
  data.write_description(R"({"directed": false})");
  const Result info = tool.run("info " + data.path().string());
  CHECK(info.status == 0);
  CHECK(contains(info.error, "one direction only"));
}

TEST_CASE("bad arguments and bad input exit with 2 and write nothing") {
  const Tool tool;
  SmallDataset bad;
  bad.write<std::int64_t>("labels", {0, 1}, {2});
  for (const std::string& arguments :
       {std::string(), std::string("destroy"), std::string("generate --kind sbm"),
        std::string("generate --kind torus --out a"), std::string("generate --kind sbm --nodes x --out a"),
        std::string("generate --kind sbm --nodes 1 --out a"),
        std::string("generate --kind sbm --rows 3 --out a"),
        std::string("generate --kind karate --features 3 --out a"),
        std::string("generate --kind sbm --out no/such/a"),
        std::string("--log-level loud generate --kind karate --out a"), std::string("info nothing"),
        "info --split 1 " + bad.path().string(), "import --format npy --out a " + bad.path().string()}) {
    CAPTURE(arguments);
    const Result result = tool.run(arguments);
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    CHECK_FALSE(result.error.empty());
    CHECK(tool.files().empty());
  }
}

TEST_CASE("an output that exists is left alone unless it is an empty folder") {
  const Tool tool;
  std::filesystem::create_directory(tool.work() / "a");
  CHECK(tool.run("generate --kind karate --out a/").status == 0);
  const std::string before = read_bytes(tool.work() / "a" / "labels.npy");
  CHECK(tool.run("generate --kind star --out a").status == 2);
  CHECK(read_bytes(tool.work() / "a" / "labels.npy") == before);
  CHECK(tool.files() == std::vector<std::string>{"a"});
}

TEST_CASE("a write that fails exits with 1, says why and leaves nothing behind") {
  const Tool tool;
  // A limit of 100 blocks of 512 or 1024 bytes stands for a full disk.
  const Result result = tool.run("generate --kind sbm --out a", "trap '' XFSZ; ulimit -f 100;");
  CHECK(result.status == 1);
  CHECK(contains(result.error, "cannot write"));
  CHECK(contains(result.error, "too large"));
  CHECK(tool.files().empty());
}

}  // namespace halo::datasets
