// Published counts of real datasets. The folder that holds them comes in the environment variable
// HALO_TEST_DATA.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "halo/datasets/dataset_info.hpp"
#include "halo/datasets/generate.hpp"

namespace halo::datasets {
namespace {

struct Expected {
  const char* name;
  NodeId nodes;
  EdgeId edges, loops;
  std::int64_t features;
  std::int32_t classes;
  NodeId train, val, test;
};

constexpr Expected kDatasets[] = {
    {"cora", 2708, 10556, 0, 1433, 7, 140, 500, 1000},
    {"citeseer", 3327, 9104, 0, 3703, 6, 120, 500, 1000},
    {"pubmed", 19717, 88648, 0, 500, 3, 60, 500, 1000},
    {"amazon_photo", 7650, 238162, 0, 745, 8, 160, 240, 7250},
    {"amazon_computers", 13752, 491722, 0, 767, 10, 200, 300, 13252},
    {"coauthor_cs", 18333, 163788, 0, 6805, 15, 300, 450, 17583},
    {"cora_ml", 2995, 16316, 0, 2879, 7, 140, 210, 2645},
    {"flickr_attr", 7575, 479476, 0, 12047, 9, 180, 270, 7125},
    {"nell", 65755, 251550, 0, 61278, 186, 105, 0, 969},
    {"minesweeper", 10000, 78804, 0, 7, 2, 5000, 2500, 2500},
    {"chameleon", 2277, 62742, 0, 2325, 5, 1092, 729, 456},
    {"actor", 7600, 53411, 93, 932, 5, 3648, 2432, 1520},
    {"wisconsin", 251, 916, 16, 1703, 5, 120, 80, 51},
    {"blogcatalog", 10312, 667966, 0, 0, 39, 6187, 2062, 2063},
    {"eukloc", 7766, 23371, 729, 32, 22, 4192, 466, 3108},
    {"karate", 34, 156, 0, 0, 2, 0, 0, 0},
};

std::filesystem::path data_folder() {
  const char* folder = std::getenv("HALO_TEST_DATA");
  REQUIRE_MESSAGE(folder != nullptr, "set HALO_TEST_DATA to the folder that holds cora, citeseer, ...");
  return folder;
}

}  // namespace

TEST_CASE("real datasets have their published counts") {
  for (const Expected& expected : kDatasets) {
    CAPTURE(expected.name);
    const DatasetInfo info = describe(load_dataset(data_folder() / expected.name));
    CHECK(info.name == expected.name);
    CHECK(info.nodes == expected.nodes);
    CHECK(info.edges == expected.edges);
    CHECK(info.loops == expected.loops);
    CHECK(info.duplicates == 0);
    CHECK(info.symmetric);
    CHECK(info.feature_cols == expected.features);
    CHECK(info.classes == expected.classes);
    CHECK(info.train == expected.train);
    CHECK(info.val == expected.val);
    CHECK(info.test == expected.test);
  }
}

TEST_CASE("figures beyond the counts") {
  const DatasetInfo citeseer = describe(load_dataset(data_folder() / "citeseer"));
  CHECK(citeseer.isolated == 48);
  CHECK(citeseer.feature_sparse);
  const DatasetInfo pubmed = describe(load_dataset(data_folder() / "pubmed"));
  CHECK(pubmed.feature_nonzeros == 988031);
  const DatasetInfo nell = describe(load_dataset(data_folder() / "nell"));
  CHECK(nell.labelled == 105 + 969);
}

TEST_CASE("the numbered splits of minesweeper") {
  for (const std::int64_t split : {0, 9}) {
    const DatasetInfo info = describe(load_dataset(data_folder() / "minesweeper", {.split = split}));
    CHECK(info.train == 5000);
    CHECK(info.val == 2500);
    CHECK(info.test == 2500);
  }
}

TEST_CASE("the generated karate club is the published one") {
  const Dataset published = load_dataset(data_folder() / "karate");
  const Dataset generated = generate_karate();
  CHECK(generated.sources == published.sources);
  CHECK(generated.targets == published.targets);
  CHECK(generated.labels == published.labels);
}

TEST_CASE("the dense and the sparse features of cora agree") {
  const auto folder = data_folder() / "cora";
  const auto array = [&](const char* name) { return NpyArray(open_file(folder / name)); };
  const SparseFeatures sparse(array("feat_shape.npy"), array("feat_indptr.npy"), array("feat_indices.npy"),
                              array("feat_values.npy"));
  const DenseFeatures dense(array("features.npy"));
  const RowRange all{0, dense.rows()};
  std::vector<float> a(static_cast<std::size_t>(dense.rows() * dense.cols())), b(a);
  dense.read_rows(all, a);
  sparse.read_rows(all, b);
  CHECK(a == b);
}

}  // namespace halo::datasets
