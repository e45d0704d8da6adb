#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <tuple>

#include "datasets/temporary_folder.hpp"
#include "halo/base/error.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/partition/partition_dataset.hpp"
#include "halo/partition/write_partition.hpp"
#include "partition/small_dataset.hpp"

using namespace halo;
using namespace halo::partition;
using datasets::contains;
using datasets::input_error_of;
using datasets::read_bytes;
using datasets::TemporaryFolder;

namespace {

using Edges = std::vector<std::tuple<NodeId, NodeId, float>>;

datasets::PartitionManifest write(const std::filesystem::path& folder, const datasets::Dataset& dataset,
                                  const PartitionOptions& options) {
  const graph::Csr graph =
      graph::build_in_edges(dataset.num_nodes, dataset.sources, dataset.targets, dataset.edge_weight);
  return write_partition(folder, dataset, partition_graph(graph, train_flags(dataset), options),
                         {{"seed", options.seed}});
}

/// Edges (source, target, weight) of the files, in original ids, sorted.
Edges read_edges(const std::filesystem::path& folder, const std::string& prefix, bool weighted) {
  const auto indptr = datasets::read_npy<std::int64_t>(folder / (prefix + "indptr.npy"));
  const auto indices = datasets::read_npy<std::int64_t>(folder / (prefix + "indices.npy"));
  const auto original = datasets::read_npy<std::int64_t>(folder / "original_id.npy");
  std::vector<float> weights(indices.size(), 1.0F);
  if (weighted) weights = datasets::read_npy<float>(folder / (prefix + "edge_weight.npy"));
  Edges edges;
  for (std::size_t i = 0; i + 1 < indptr.size(); ++i) {
    for (std::size_t e = at(indptr[i]); e < at(indptr[i + 1]); ++e) {
      const NodeId neighbour = original[at(indices[e])];
      edges.emplace_back(prefix.empty() ? neighbour : original[i], prefix.empty() ? original[i] : neighbour,
                         weights[e]);
    }
  }
  std::ranges::sort(edges);
  return edges;
}

Edges edges_of(const EdgeList& list) {
  Edges edges;
  for (std::size_t e = 0; e < list.sources.size(); ++e) {
    edges.emplace_back(list.sources[e], list.targets[e], list.weights.empty() ? 1.0F : list.weights[e]);
  }
  std::ranges::sort(edges);
  return edges;
}

void check_nodes(const std::filesystem::path& folder, const datasets::Dataset& dataset) {
  const auto original = datasets::read_npy<std::int64_t>(folder / "original_id.npy");
  const auto features = datasets::read_npy<float>(folder / "features.npy");
  const auto labels = datasets::read_npy<std::int32_t>(folder / "labels.npy");
  const auto split = datasets::read_npy<std::uint8_t>(folder / "split.npy");
  REQUIRE(features.size() == original.size() * 3);
  for (std::size_t i = 0; i < original.size(); ++i) {
    CHECK(labels[i] == dataset.labels[at(original[i])]);
    CHECK(split[i] == static_cast<std::uint8_t>(dataset.split[at(original[i])]));
    for (std::size_t col = 0; col < 3; ++col) {
      CHECK(features[3 * i + col] == feature_value(original[i], static_cast<std::int64_t>(col)));
    }
  }
}

/// Element range of part k's slice of a file, as include/halo/datasets/partitioned_dataset.hpp defines it.
RowRange slice_of(const std::string& name, RowRange nodes, const std::filesystem::path& folder) {
  if (name.ends_with("indptr.npy")) return {nodes.begin, nodes.end + 1};
  if (!name.ends_with("indices.npy") && !name.ends_with("edge_weight.npy")) return nodes;
  const auto indptr =
      datasets::read_npy<std::int64_t>(folder / (name.starts_with("out_") ? "out_indptr.npy" : "indptr.npy"));
  return {indptr[at(nodes.begin)], indptr[at(nodes.end)]};
}

void check_checksums(const std::filesystem::path& folder, const datasets::PartitionManifest& manifest) {
  const auto offsets = datasets::read_npy<std::int64_t>(folder / "part_offsets.npy");
  const auto checksums = datasets::read_npy<std::uint64_t>(folder / "checksums.npy");
  const auto parts = static_cast<std::size_t>(manifest.parts);
  REQUIRE(checksums.size() == manifest.files.size() * parts);
  for (const auto& [name, file] : manifest.files) {
    const datasets::NpyHeader header = datasets::read_npy_header(folder / name);
    CHECK(header.dtype() == file.dtype);
    CHECK(header.shape == file.shape);
    const std::string bytes = read_bytes(folder / name);
    CHECK(std::ssize(bytes) == file.bytes);
    const auto row_bytes = at(header.row_items() * header.item_size);
    for (std::size_t k = 0; k < parts; ++k) {
      const RowRange slice = slice_of(name, {offsets[k], offsets[k + 1]}, folder);
      const char* data =
          bytes.data() + header.data_offset + slice.begin * static_cast<std::int64_t>(row_bytes);
      CHECK(checksums[at(file.checksum_row) * parts + k] ==
            datasets::slice_checksum(data, at(slice.size()) * row_bytes));
    }
  }
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace

TEST_CASE("every written file maps back to the dataset") {
  for (const bool directed : {false, true}) {
    for (const bool weighted : {false, true}) {
      const EdgeList edges =
          random_graph({.nodes = 70, .edges = 300, .directed = directed, .weighted = weighted}, 9);
      const datasets::Dataset dataset = small_dataset(edges);
      for (const PartId parts : {1, 3, 70}) {
        const TemporaryFolder folder;
        const auto written = write(folder / "parts", dataset, {.parts = parts, .tile_rows = 8});
        const auto manifest = datasets::read_manifest(folder / "parts");
        CHECK(datasets::to_json(manifest) == datasets::to_json(written));
        CHECK(manifest.symmetric == !directed);
        CHECK(manifest.weighted == weighted);
        CHECK(manifest.num_edges == static_cast<EdgeId>(edges.sources.size()));
        CHECK(manifest.train_nodes == std::ranges::count(dataset.split, datasets::Split::kTrain));
        CHECK(read_edges(folder / "parts", "", weighted) == edges_of(edges));
        if (directed) CHECK(read_edges(folder / "parts", "out_", weighted) == edges_of(edges));
        check_nodes(folder / "parts", dataset);
        check_checksums(folder / "parts", manifest);
        CHECK(names_in(folder.path()) == std::vector<std::string>{"parts"});
        CHECK(manifest.files.size() + manifest.whole_file_checksums.size() + 1 ==
              names_in(folder / "parts").size());
      }
    }
  }
}

TEST_CASE("the same call writes the same bytes") {
  const datasets::Dataset dataset =
      small_dataset(random_graph({.nodes = 400, .edges = 800, .directed = true}, 2));
  const TemporaryFolder folder;
  const auto first = write(folder / "a", dataset, {.parts = 4, .seed = 1});
  const auto again = write(folder / "b", dataset, {.parts = 4, .seed = 1, .threads = 2});
  const auto other = write(folder / "c", dataset, {.parts = 4, .seed = 2});
  CHECK(first.run_id == again.run_id);
  CHECK(first.run_id != other.run_id);
  for (const std::string& name : names_in(folder / "a")) {
    CAPTURE(name);
    CHECK(read_bytes(folder / "a" / name) == read_bytes(folder / "b" / name));
  }
}

TEST_CASE("datasets that cannot be trained are refused, and nothing is written") {
  const datasets::Dataset good = small_dataset(grid(3, 3));
  const TemporaryFolder folder;
  const auto refusal = [&](const std::function<void(datasets::Dataset&)>& spoil) {
    datasets::Dataset dataset = good;
    spoil(dataset);
    return input_error_of([&] { write(folder / "parts", dataset, {.parts = 2}); });
  };
  CHECK(contains(refusal([](auto& d) { d.labels.clear(); }), "no labels"));
  CHECK(contains(refusal([](auto& d) { std::ranges::fill(d.split, datasets::Split::kTest); }),
                 "no training nodes"));
  CHECK(names_in(folder.path()).empty());
}

TEST_CASE("a failure or a signal while writing leaves nothing behind") {
  const TemporaryFolder folder;
  datasets::Dataset dataset = small_dataset(grid(3, 3));
  dataset.features = std::make_shared<datasets::ComputedFeatures>(
      9, 3, [](NodeId, std::span<float>) { throw Error("the disk is on fire"); });
  CHECK_THROWS_WITH_AS(write(folder / "parts", dataset, {.parts = 2}), "the disk is on fire", Error);
  CHECK(names_in(folder.path()).empty());
  dataset.features = std::make_shared<datasets::ComputedFeatures>(
      9, 3, [](NodeId, std::span<float>) { std::raise(SIGINT); });
  CHECK_THROWS_AS(write(folder / "parts", dataset, {.parts = 2}), Error);
  CHECK(names_in(folder.path()).empty());
}

TEST_CASE("an existing result is not touched, an empty folder is used") {
  const datasets::Dataset dataset = small_dataset(grid(3, 3));
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "empty");
  write(folder / "empty", dataset, {.parts = 2});
  const std::string manifest = read_bytes(folder / "empty" / "partition.json");
  CHECK_THROWS_AS(write(folder / "empty", dataset, {.parts = 3}), InputError);
  CHECK(read_bytes(folder / "empty" / "partition.json") == manifest);
  CHECK_THROWS_AS(write(folder / "no such folder" / "parts", dataset, {.parts = 2}), InputError);
}

TEST_CASE("the estimate of the bytes to write is close to what is written") {
  const TemporaryFolder folder;
  const EdgeList edges = random_graph({.nodes = 5000, .edges = 30000, .directed = true, .weighted = true}, 4);
  const datasets::Dataset dataset = small_dataset(edges);
  const PartitionedGraph graph = partition_graph(edges.csr(), train_flags(dataset), {.parts = 4});
  write_partition(folder / "parts", dataset, graph, {});
  std::int64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "parts")) {
    if (entry.path().extension() == ".npy") bytes += static_cast<std::int64_t>(entry.file_size());
  }
  CHECK(std::abs(bytes - bytes_to_write(dataset, graph)) < 4000);
}

TEST_CASE("labels of each task, or none, and a dataset without features") {
  const EdgeList edges = random_graph({.nodes = 40, .edges = 120}, 3);
  datasets::Dataset dataset = small_dataset(edges);
  dataset.features = nullptr;
  dataset.labels.clear();
  dataset.num_classes = 3;
  dataset.task = datasets::kMultiLabel;
  for (int i = 0; i < 120; ++i) dataset.multi_labels.push_back(i % 7 == 0 ? 1 : 0);
  const TemporaryFolder folder;
  const auto manifest = write(folder / "labels", dataset, {.parts = 4});
  CHECK(manifest.feature_cols == 0);
  CHECK(datasets::read_manifest(folder / "labels").task == "multi_label");
  check_checksums(folder / "labels", manifest);
  const auto original = datasets::read_npy<NodeId>(folder / "labels" / "original_id.npy");
  const auto labels = datasets::read_npy<std::uint8_t>(folder / "labels" / "labels.npy");
  for (std::size_t i = 0; i < 120; ++i)
    CHECK(labels[i] == dataset.multi_labels[3 * at(original[i / 3]) + i % 3]);

  dataset.task = datasets::kNodeRegression;
  dataset.multi_labels.clear();
  for (int i = 0; i < 120; ++i) dataset.values.push_back(static_cast<float>(i));
  const auto regression = write(folder / "values", dataset, {.parts = 4});
  check_checksums(folder / "values", regression);
  const auto values = datasets::read_npy<float>(folder / "values" / "labels.npy");
  for (std::size_t i = 0; i < 120; ++i) CHECK(values[i] == dataset.values[3 * at(original[i / 3]) + i % 3]);
  CHECK(!std::filesystem::exists(folder / "values" / "features.npy"));
}

TEST_CASE("held-out links stand with the part of their first end, in the dataset's order") {
  const EdgeList edges = random_graph({.nodes = 40, .edges = 120}, 3);
  datasets::Dataset dataset = small_dataset(edges);
  dataset.task = datasets::kLinkPrediction;
  dataset.labels.clear();
  dataset.split.assign(40, datasets::Split::kNone);
  datasets::HeldOutLinks& links = dataset.test_links;
  links.negatives_each = 2;
  for (NodeId i = 0; i < 60; ++i) {
    links.sources.push_back(i * 7 % 40);
    links.targets.push_back((i * 11 + 1) % 40);
    links.negatives.insert(links.negatives.end(), {i % 40, (i + 5) % 40});
  }
  const TemporaryFolder folder;
  const auto manifest = write(folder / "parts", dataset, {.parts = 5});
  CHECK(datasets::to_json(datasets::read_manifest(folder / "parts")) == datasets::to_json(manifest));
  CHECK(manifest.links.test == 60);
  CHECK(manifest.links.validation == 0);
  CHECK(!std::filesystem::exists(folder / "parts" / "labels.npy"));
  const auto original = datasets::read_npy<NodeId>(folder / "parts" / "original_id.npy");
  const auto parts = datasets::read_npy<NodeId>(folder / "parts" / "part_offsets.npy");
  const auto offsets = datasets::read_npy<std::int64_t>(folder / "parts" / "test_link_offsets.npy");
  const auto rows = datasets::read_npy<std::int64_t>(folder / "parts" / "test_links.npy");
  REQUIRE(rows.size() == 60 * 5);
  REQUIRE(offsets.size() == 6);
  std::vector<bool> seen(60);
  for (std::size_t part = 0; part < 5; ++part) {
    for (std::int64_t r = offsets[part]; r < offsets[part + 1]; ++r) {
      const auto* row = rows.data() + 5 * r;
      const auto link = at(row[0]);
      if (r > offsets[part]) CHECK(row[0] > row[-5]);
      CHECK((row[1] >= parts[part] && row[1] < parts[part + 1]));
      CHECK(original[at(row[1])] == links.sources[link]);
      CHECK(original[at(row[2])] == links.targets[link]);
      CHECK(original[at(row[3])] == links.negatives[2 * link]);
      CHECK(original[at(row[4])] == links.negatives[2 * link + 1]);
      seen[link] = true;
    }
  }
  CHECK(std::ranges::count(seen, true) == 60);
}

TEST_CASE("from a dataset folder to a partitioned one; --undirected changes the data") {
  const TemporaryFolder folder;
  EdgeList edges{.nodes = 30};
  for (NodeId i = 1; i < 30; ++i) edges.add(i - 1, i);
  std::filesystem::create_directory(folder / "data");
  datasets::write_dataset(folder / "data", small_dataset(edges));
  PartitionJob job{.dataset = folder / "data", .out = folder / "one way", .options = {.parts = 3}};
  const auto one_way = partition_dataset(job).manifest;
  CHECK(!one_way.symmetric);
  CHECK(one_way.num_edges == 29);
  CHECK(one_way.options["method"] == "metis");
  CHECK(one_way.options["undirected"] == false);
  job.undirected = true;
  job.out = folder / "both ways";
  const auto both_ways = partition_dataset(job).manifest;
  CHECK(both_ways.symmetric);
  CHECK(both_ways.num_edges == 58);
  job.options.parts = 31;
  job.out = folder / "too many";
  CHECK(contains(input_error_of([&] { partition_dataset(job); }), "1 to 30"));
  CHECK(names_in(folder.path()) == std::vector<std::string>{"both ways", "data", "one way"});
}
