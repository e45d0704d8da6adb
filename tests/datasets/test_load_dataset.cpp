#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "halo/datasets/dataset.hpp"
#include "small_dataset.hpp"

namespace halo::datasets {
namespace {

constexpr Split kNone = Split::kNone, kTrain = Split::kTrain, kVal = Split::kValidation, kTest = Split::kTest;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::string error_of(const SmallDataset& data, const LoadOptions& options = {}) {
  return input_error_of([&] { load_dataset(data.path(), options); });
}

std::vector<float> all_features(const Dataset& dataset) {
  std::vector<float> values(static_cast<std::size_t>(dataset.num_nodes * dataset.feature_cols()));
  dataset.features->read_rows(RowRange{0, dataset.num_nodes}, values);
  return values;
}

}  // namespace

TEST_CASE("a small folder is read as it stands") {
  SmallDataset data;
  const Dataset dataset = load_dataset(data.path());
  CHECK(dataset.name == data.path().filename().string());
  CHECK(dataset.num_nodes == 4);
  CHECK(dataset.sources == std::vector<NodeId>{0, 1, 2});
  CHECK(dataset.targets == std::vector<NodeId>{1, 2, 3});
  CHECK(dataset.labels == std::vector<std::int32_t>{0, 1, 1, -1});
  CHECK(dataset.num_classes == 2);
  CHECK(dataset.split == std::vector<Split>{kTrain, kVal, kTest, kNone});
  CHECK(all_features(dataset) == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK_FALSE(dataset.declared_directed.has_value());
  std::vector<float> some(6);
  dataset.features->read_rows(std::vector<NodeId>{2, 3, 0}, some);
  CHECK(some == std::vector<float>{4, 5, 6, 7, 0, 1});
}

TEST_CASE("the optional parts may be absent") {
  SmallDataset data;
  data.remove_splits();
  data.remove("labels");
  data.remove("features");
  const Dataset dataset = load_dataset(data.path());
  CHECK(dataset.num_nodes == 4);  // from the edges
  CHECK(dataset.num_classes == 0);
  CHECK(dataset.features == nullptr);
  CHECK(dataset.split == std::vector<Split>(4, kNone));
  data.write_description(R"({"name": "path", "num_nodes": 6, "directed": true})");
  const Dataset declared = load_dataset(data.path());
  CHECK(declared.num_nodes == 6);
  CHECK(declared.name == "path");
  CHECK(declared.declared_directed == true);
}

TEST_CASE("loops and duplicate edges are kept") {
  SmallDataset data;
  data.write<std::int32_t>("edge_index", {1, 1, 2, 2, 2, 2}, {2, 3});
  CHECK(load_dataset(data.path()).num_edges() == 3);
  data.write<std::int32_t>("edge_index", {}, {2, 0});
  CHECK(load_dataset(data.path()).num_edges() == 0);
}

TEST_CASE("bad edges are refused") {
  SmallDataset data;
  SUBCASE("missing") {
    data.remove("edge_index");
    CHECK(contains(error_of(data), "edge_index"));
  }
  SUBCASE("transposed") {
    data.write<std::int64_t>("edge_index", {0, 1, 1, 2, 2, 3}, {3, 2});
    CHECK(contains(error_of(data), "[3, 2]"));
  }
  SUBCASE("floats") {
    data.write<float>("edge_index", {0, 1, 2, 1, 2, 3}, {2, 3});
    CHECK(contains(error_of(data), "<f4"));
  }
  SUBCASE("source too large") {
    data.write<std::int64_t>("edge_index", {0, 4, 2, 1, 2, 3}, {2, 3});
    CHECK(contains(error_of(data), "row 0, edge 1"));
  }
  SUBCASE("negative target") {
    data.write<std::int64_t>("edge_index", {0, 1, 2, 1, 2, -1}, {2, 3});
    CHECK(contains(error_of(data), "row 1, edge 2"));
  }
  SUBCASE("an absurd id where only the edges tell the number of nodes") {
    data.remove_splits();
    data.remove("labels");
    data.remove("features");
    data.write<std::int64_t>("edge_index", {0, 1, std::numeric_limits<std::int64_t>::max(), 1, 2, 3}, {2, 3});
    CHECK(contains(error_of(data), "number of nodes"));
  }
  SUBCASE("an absurd number of declared nodes") {
    data.remove_splits();
    data.remove("labels");
    data.remove("features");
    data.write_description(R"({"num_nodes": 1000000000000000})");
    CHECK(contains(error_of(data), "number of nodes"));
  }
  SUBCASE("weights of another length") {
    data.write<float>("edge_weight", {1, 2}, {2});
    CHECK(contains(error_of(data), "edge_weight"));
  }
  SUBCASE("a weight that is not finite") {
    data.write<float>("edge_weight", {1, kNan, 2}, {3});
    CHECK(contains(error_of(data), "edge 1"));
  }
}

TEST_CASE("edge weights come with their edges") {
  SmallDataset data;
  data.write<double>("edge_weight", {0.5, 1, 2}, {3});
  CHECK(load_dataset(data.path()).edge_weight == std::vector<float>{0.5F, 1, 2});
}

TEST_CASE("bad features are refused") {
  SmallDataset data;
  SUBCASE("rows disagree with the declared nodes") {
    data.write_description(R"({"num_nodes": 5})");
    CHECK(contains(error_of(data), "wrong number of rows"));
  }
  SUBCASE("not a matrix") {
    data.write<float>("features", {0, 1, 2, 3}, {4});
    CHECK(contains(error_of(data), "matrix"));
  }
  SUBCASE("NaN") {
    data.write<float>("features", {0, 1, 2, 3, 4, kNan, 6, 7}, {4, 2});
    CHECK(contains(error_of(data), "row 2, column 1"));
  }
  SUBCASE("infinity") {
    data.write<double>("features", {0, 1, 2, 3, 4, 5, -std::numeric_limits<double>::infinity(), 7}, {4, 2});
    CHECK(contains(error_of(data), "row 3, column 0"));
  }
}

TEST_CASE("sparse features are the dense ones") {
  SmallDataset data;
  data.remove("features");
  data.write<std::int64_t>("feat_shape", {4, 3}, {2});
  data.write<std::int64_t>("feat_indptr", {0, 2, 2, 5, 6}, {5});
  data.write<std::int32_t>("feat_indices", {2, 0, 1, 1, 0, 2}, {6});
  data.write<float>("feat_values", {3, 1, 4, 0.5, 2, 9}, {6});
  const std::vector<float> expected{1, 0, 3, 0, 0, 0, 2, 4.5, 0, 0, 0, 9};  // the doubled entry adds up
  SUBCASE("good") {
    const Dataset dataset = load_dataset(data.path());
    CHECK(all_features(dataset) == expected);
    CHECK(dataset.features->as_sparse()->num_entries() == 6);
    std::vector<float> row(3);
    dataset.features->read_rows(RowRange{2, 3}, row);
    CHECK(row == std::vector<float>{2, 4.5, 0});
  }
  SUBCASE("column out of range") {
    data.write<std::int32_t>("feat_indices", {2, 0, 1, 3, 0, 2}, {6});
    CHECK(contains(error_of(data), "position 3"));
  }
  SUBCASE("falling row starts") {
    data.write<std::int64_t>("feat_indptr", {0, 2, 1, 5, 6}, {5});
    CHECK(contains(error_of(data), "never fall"));
  }
  SUBCASE("row starts beyond the entries") {
    data.write<std::int64_t>("feat_indptr", {0, 2, 2, 5, 7}, {5});
    CHECK(contains(error_of(data), "wrong shape"));
  }
  SUBCASE("row starts of another length") {
    data.write<std::int64_t>("feat_indptr", {0, 2, 2, 6}, {4});
    CHECK(contains(error_of(data), "rows + 1"));
  }
  SUBCASE("a shape out of range") {
    data.write<std::int64_t>("feat_shape", {std::numeric_limits<std::int64_t>::max(), 3}, {2});
    CHECK(contains(error_of(data), "out of range"));
  }
  SUBCASE("not finite") {
    data.write<float>("feat_values", {3, 1, 4, kNan, 2, 9}, {6});
    CHECK(contains(error_of(data), "row 2, column 1"));
  }
  SUBCASE("an array missing") {
    data.remove("feat_values");
    CHECK(contains(error_of(data), "feat_values"));
  }
}

TEST_CASE("labels of every form are read") {
  SmallDataset data;
  SUBCASE("classes as floats with NaN for unknown") {
    data.write_description(R"({"task": "node_classification"})");
    data.write<double>("labels", {0, 2, 1, static_cast<double>(kNan)}, {4});
    CHECK(load_dataset(data.path()).labels == std::vector<std::int32_t>{0, 2, 1, -1});
  }
  SUBCASE("one column") {
    data.write<std::int32_t>("labels", {0, 2, 1, -1}, {4, 1});
    CHECK(load_dataset(data.path()).labels == std::vector<std::int32_t>{0, 2, 1, -1});
  }
  SUBCASE("several labels a node") {
    data.write<std::uint8_t>("labels", {0, 1, 1, 1, 0, 0, 1, 0}, {4, 2});
    const Dataset dataset = load_dataset(data.path());
    CHECK(dataset.task == kMultiLabel);
    CHECK(dataset.num_classes == 2);
    CHECK(dataset.labels.empty());
    CHECK(dataset.multi_labels == std::vector<std::uint8_t>{0, 1, 1, 1, 0, 0, 1, 0});
  }
  SUBCASE("several labels a node, of which there is one") {
    data.write<std::uint8_t>("labels", {0, 1, 1, 0}, {4, 1});
    data.write_description(R"({"task": "multi_label"})");
    CHECK(load_dataset(data.path()).multi_labels == std::vector<std::uint8_t>{0, 1, 1, 0});
  }
  SUBCASE("targets of a regression, some unknown") {
    data.write<float>("labels", {0.5, kNan, 1, -2, kNan, 3, kNan, kNan}, {4, 2});
    const Dataset dataset = load_dataset(data.path());
    CHECK(dataset.task == kNodeRegression);
    CHECK(dataset.num_classes == 2);
    CHECK(dataset.values[3] == -2);
    CHECK(std::isnan(dataset.values[4]));
    CHECK(dataset.has_label(2));
    CHECK_FALSE(dataset.has_label(3));
  }
  SUBCASE("one target a node; whole numbers where the task is declared") {
    data.write<double>("labels", {0, 2, 1, 7}, {4});
    CHECK(load_dataset(data.path()).values == std::vector<float>{0, 2, 1, 7});
    data.write<std::int64_t>("labels", {0, 2, 1, 7}, {4});
    data.write_description(R"({"task": "node_regression"})");
    const Dataset dataset = load_dataset(data.path());
    CHECK(dataset.values == std::vector<float>{0, 2, 1, 7});
    CHECK(dataset.num_classes == 1);
  }
  SUBCASE("more classes declared than seen") {
    data.write_description(R"({"num_classes": 7, "task": "node_classification"})");
    CHECK(load_dataset(data.path()).num_classes == 7);
  }
}

TEST_CASE("bad labels are refused") {
  SmallDataset data;
  SUBCASE("too few") {
    data.write<std::int64_t>("labels", {0, 1, 1}, {3});
    CHECK(contains(error_of(data), "labels.npy"));
  }
  SUBCASE("below -1") {
    data.write<std::int64_t>("labels", {0, 1, 1, -2}, {4});
    CHECK(contains(error_of(data), "node 3"));
  }
  SUBCASE("beyond the declared classes") {
    data.write_description(R"({"num_classes": 1})");
    CHECK(contains(error_of(data), "node 1"));
  }
  SUBCASE("a fraction") {
    data.write_description(R"({"task": "node_classification"})");
    data.write<float>("labels", {0, 1, 0.5, 1}, {4});
    CHECK(contains(error_of(data), "node 2"));
  }
  SUBCASE("several labels that are not 0 or 1") {
    data.write<std::uint8_t>("labels", {0, 1, 1, 2, 0, 0, 1, 0}, {4, 2});
    CHECK(contains(error_of(data), "node 1, class 1"));
  }
  SUBCASE("another task declared") {
    data.write_description(R"({"task": "multi_label"})");
    CHECK(contains(error_of(data), "task"));
  }
  SUBCASE("an infinite target") {
    data.write<float>("labels", {0, 1, std::numeric_limits<float>::infinity(), 1}, {4});
    CHECK(contains(error_of(data), "node 2, column 0"));
  }
  SUBCASE("another number of targets declared") {
    data.write<float>("labels", {0, 1, 2, 1}, {4, 1});
    data.write_description(R"({"num_classes": 2})");
    CHECK(contains(error_of(data), "[nodes, 2]"));
  }
  SUBCASE("a training node without any target") {
    data.write<float>("labels", {kNan, kNan, 2, 1, 0, 0, 0, 0}, {4, 2});
    CHECK(contains(error_of(data), "no label"));
  }
}

TEST_CASE("held-out links come with their negatives") {
  SmallDataset data;
  data.write_description(R"({"task": "link_prediction"})");
  data.write<std::int64_t>("val_edges", {0, 3}, {2, 1});
  data.write<std::int64_t>("val_negatives", {0, 0, 1, 2}, {2, 2});
  data.write<std::int64_t>("test_edges", {3, 2, 1, 0}, {2, 2});
  data.write<std::int64_t>("test_negatives", {3, 3, 2, 2, 0, 2, 1, 3}, {2, 4});
  SUBCASE("good; labels and node splits are left out") {
    const Dataset dataset = load_dataset(data.path());
    CHECK(dataset.labels.empty());
    CHECK(dataset.split == std::vector<Split>(4, kNone));
    CHECK(dataset.val_links.sources == std::vector<NodeId>{0});
    CHECK(dataset.val_links.targets == std::vector<NodeId>{3});
    CHECK(dataset.test_links.negatives == std::vector<NodeId>{0, 2, 1, 3});
    CHECK(dataset.test_links.negatives_each == 2);
    TemporaryFolder folder;
    write_dataset(folder.path(), dataset);
    const Dataset again = load_dataset(folder.path());
    CHECK(again.task == kLinkPrediction);
    CHECK(again.test_links.sources == dataset.test_links.sources);
    CHECK(again.test_links.negatives == dataset.test_links.negatives);
    CHECK(again.val_links.targets == dataset.val_links.targets);
  }
  SUBCASE("a node that does not exist") {
    data.write<std::int64_t>("test_edges", {3, 2, 1, 4}, {2, 2});
    CHECK(contains(error_of(data), "row 1, link 1"));
  }
  SUBCASE("negatives of another edge") {
    data.write<std::int64_t>("test_negatives", {3, 2, 3, 2, 0, 2, 1, 3}, {2, 4});
    CHECK(contains(error_of(data), "do not belong"));
  }
  SUBCASE("one negative too few") {
    data.write<std::int64_t>("test_negatives", {3, 3, 2, 0, 2, 1}, {2, 3});
    CHECK(contains(error_of(data), "3 pairs for 2 edges"));
  }
  SUBCASE("different numbers of negatives") {
    data.write<std::int64_t>("val_negatives", {0, 1}, {2, 1});
    CHECK(contains(error_of(data), "1 and 2 for each edge"));
  }
  SUBCASE("no negatives") {
    data.remove("val_negatives");
    CHECK(contains(error_of(data), "val_negatives"));
  }
  SUBCASE("a list of another shape") {
    data.write<std::int64_t>("val_edges", {0, 3}, {1, 2});
    CHECK(contains(error_of(data), "[1, 2]"));
  }
}

TEST_CASE("splits as masks and as numbered masks") {
  SmallDataset data;
  const std::vector<Split> expected{kTrain, kTest, kVal, kNone};
  SUBCASE("masks in the place of ids") {
    data.write<std::uint8_t>("train_idx", {1, 0, 0, 0}, {4});
    data.write<std::uint8_t>("test_idx", {0, 1, 0, 0}, {4});
    data.write<std::uint8_t>("val_idx", {0, 0, 1, 0}, {4});
    CHECK(load_dataset(data.path()).split == expected);
  }
  SUBCASE("numbered") {
    data.write<std::uint8_t>("train_masks", {0, 1, 0, 0, 1, 0, 0, 0}, {2, 4});
    data.write<std::uint8_t>("test_masks", {0, 0, 1, 0, 0, 1, 0, 0}, {2, 4});
    data.write<std::uint8_t>("val_masks", {1, 0, 0, 0, 0, 0, 1, 0}, {2, 4});
    CHECK(load_dataset(data.path(), {.split = 1}).split == expected);
    // Without --split the ids count; without ids split 0.
    CHECK(load_dataset(data.path()).split == std::vector<Split>{kTrain, kVal, kTest, kNone});
    data.remove_splits();
    CHECK(load_dataset(data.path()).split == std::vector<Split>{kVal, kTrain, kTest, kNone});
    CHECK(contains(error_of(data, {.split = 2}), "no such split"));
  }
  SUBCASE("a split asked for that is not there") {
    CHECK(contains(error_of(data, {.split = 0}), "numbered"));
  }
}

TEST_CASE("bad splits are refused") {
  SmallDataset data;
  SUBCASE("a node that does not exist") {
    data.write<std::int64_t>("test_idx", {2, 4}, {2});
    CHECK(contains(error_of(data), "position 1"));
  }
  SUBCASE("a negative id") {
    data.write<std::int64_t>("test_idx", {-1}, {1});
    CHECK(contains(error_of(data), "node -1"));
  }
  SUBCASE("a node twice") {
    data.write<std::int64_t>("test_idx", {2, 2}, {2});
    CHECK(contains(error_of(data), "twice"));
  }
  SUBCASE("overlap") {
    data.write<std::int64_t>("test_idx", {2, 0}, {2});
    CHECK(contains(error_of(data), "train split too"));
  }
  SUBCASE("a node without label") {
    data.write<std::int64_t>("test_idx", {2, 3}, {2});
    CHECK(contains(error_of(data), "no label"));
  }
  SUBCASE("labels that are all unknown") {
    data.write<std::int64_t>("labels", {-1, -1, -1, -1}, {4});
    const std::string error = error_of(data);
    CHECK(contains(error, "label -1"));
    CHECK(!contains(error, "no labels.npy"));
  }
  SUBCASE("no labels at all") {
    data.remove("labels");
    CHECK(contains(error_of(data), "no labels.npy"));
  }
  SUBCASE("a mask of another length") {
    data.write<std::uint8_t>("test_idx", {0, 0, 1}, {3});
    CHECK(contains(error_of(data), "mask [4]"));
  }
  SUBCASE("a mask with other values") {
    data.write<std::uint8_t>("test_idx", {0, 0, 2, 0}, {4});
    CHECK(contains(error_of(data), "node 2"));
  }
  SUBCASE("floats") {
    data.write<float>("test_idx", {2}, {1});
    CHECK(contains(error_of(data), "<f4"));
  }
}

TEST_CASE("a bad dataset.json is refused") {
  SmallDataset data;
  for (const char* text : {"{", "[]", R"({"num_nodes": "4"})", R"({"num_nodes": -4})",
                           R"({"num_nodes": 4.5})", R"({"num_classes": 4294967296})", R"({"directed": 1})",
                           R"({"name": 3})", R"({"task": "regression"})", R"({"num_nodes": 0})"}) {
    CAPTURE(text);
    data.write_description(text);
    CHECK_FALSE(error_of(data).empty());
  }
}

TEST_CASE("a written dataset is read back the same") {
  SmallDataset data;
  data.write<double>("edge_weight", {0.5, 1, 2}, {3});
  data.write_description(R"({"name": "path", "num_classes": 3, "directed": true})");
  const Dataset before = load_dataset(data.path());
  TemporaryFolder folder;
  write_dataset(folder.path(), before);
  CHECK(read_npy_header(folder / "edge_index.npy").dtype() == "<i4");
  const Dataset after = load_dataset(folder.path());
  CHECK(after.name == "path");
  CHECK(after.sources == before.sources);
  CHECK(after.targets == before.targets);
  CHECK(after.edge_weight == before.edge_weight);
  CHECK(after.labels == before.labels);
  CHECK(after.num_classes == 3);
  CHECK(after.split == before.split);
  CHECK(after.declared_directed == true);
  CHECK(all_features(after) == all_features(before));
}

}  // namespace halo::datasets
