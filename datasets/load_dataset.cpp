#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "halo/base/error.hpp"
#include "load_parts.hpp"

namespace halo::datasets {
namespace {

constexpr const char* kDescriptionName = "dataset.json";

/// A declared value, or nothing; a wrong type is the user's mistake.
template <typename T>
std::optional<T> declared_value(const nlohmann::json& json, const char* key, const std::string& where) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::nullopt;
  bool fits = false;
  std::string expected;
  if constexpr (std::is_same_v<T, std::string>) {
    fits = found->is_string();
    expected = "a string";
  } else if constexpr (std::is_same_v<T, bool>) {
    fits = found->is_boolean();
    expected = "true or false";
  } else {
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    fits = found->is_number_unsigned() && found->template get<std::uint64_t>() <= kMax;
    expected = fmt::format("a count of at most {}", kMax);
  }
  if (!fits) {
    throw InputError({.what = fmt::format("\"{}\" has the wrong type or range", key),
                      .where = where,
                      .found = found->dump(),
                      .expected = expected,
                      .next = "correct dataset.json or remove the entry"});
  }
  return found->template get<T>();
}

void read_edges(const ArrayFolder& arrays, Dataset& dataset) {
  const NpyArray array = arrays.get("edge_index");
  const auto& header = array.header();
  if (header.shape.size() != 2 || header.shape[0] != 2 || header.kind == 'f' || header.kind == 'b') {
    throw InputError({.what = "edge_index has the wrong shape or type",
                      .where = array.name(),
                      .found = fmt::format("{} of {}", format_shape(header.shape), header.dtype()),
                      .expected = "[2, edges] of integers: sources, then targets",
                      .next = "transpose or convert the array"});
  }
  for (const auto& [row, ids] : {std::pair{0, &dataset.sources}, {1, &dataset.targets}}) {
    ids->resize(static_cast<std::size_t>(header.shape[1]));
    array.read_rows<std::int64_t>({row, row + 1}, *ids);
  }
  const auto weight = arrays.find("edge_weight");
  if (!weight) return;
  if (weight->shape() != std::vector<std::int64_t>{header.shape[1]}) {
    throw InputError({.what = "edge_weight has the wrong shape",
                      .where = weight->name(),
                      .found = format_shape(weight->shape()),
                      .expected = fmt::format("[{}], one for each column of edge_index", header.shape[1]),
                      .next = "correct the array"});
  }
  dataset.edge_weight = weight->read<float>();
  for (std::size_t edge = 0; edge < dataset.edge_weight.size(); ++edge) {
    if (std::isfinite(dataset.edge_weight[edge])) continue;
    throw InputError({.what = "an edge weight is not a finite number",
                      .where = fmt::format("{}, edge {}", weight->name(), edge),
                      .found = fmt::format("{}", dataset.edge_weight[edge]),
                      .expected = "finite numbers",
                      .next = "correct the array"});
  }
}

void check_edges(const ArrayFolder& arrays, const Dataset& dataset) {
  for (const auto* ids : {&dataset.sources, &dataset.targets}) {
    const auto bad =
        std::find_if(ids->begin(), ids->end(), [&](NodeId id) { return id < 0 || id >= dataset.num_nodes; });
    if (bad == ids->end()) continue;
    throw InputError({.what = "an edge names a node that does not exist",
                      .where = fmt::format("{}: edge_index, row {}, edge {} (from 0)", arrays.path().string(),
                                           ids == &dataset.sources ? 0 : 1, bad - ids->begin()),
                      .found = fmt::format("node {}", *bad),
                      .expected = fmt::format("0 to {}", dataset.num_nodes - 1),
                      .next = "number the nodes from 0, one row of features and one label for each"});
  }
}

std::shared_ptr<const FeatureSource> open_features(const ArrayFolder& arrays) {
  if (auto dense = arrays.find("features")) return std::make_shared<DenseFeatures>(*std::move(dense));
  auto indptr = arrays.find("feat_indptr");
  if (!indptr) return nullptr;
  return std::make_shared<SparseFeatures>(arrays.get("feat_shape"), *indptr, arrays.get("feat_indices"),
                                          arrays.get("feat_values"));
}

NodeId largest_id(const Dataset& dataset) {
  NodeId largest = -1;
  for (const auto* ids : {&dataset.sources, &dataset.targets}) {
    if (!ids->empty()) largest = std::max(largest, *std::max_element(ids->begin(), ids->end()));
  }
  return largest;
}

/// Where no array has a row for each node, a number of nodes out of all proportion to the edges is taken for
/// a mistake, not for a billion isolated nodes.
void check_proportion(const ArrayFolder& arrays, const Dataset& dataset, NodeId largest) {
  const NodeId limit = std::max<NodeId>(1 << 20, 64 * dataset.num_edges());
  if (largest < limit) return;
  throw InputError(
      {.what = "the number of nodes is not clear",
       .where = arrays.path().string(),
       .found = fmt::format("no features, no labels, {} edges and a node {}", dataset.num_edges(), largest),
       .expected = fmt::format("ids below {}", limit),
       .next = "number the nodes from 0, or give features or labels"});
}

/// The declared number, else the rows of the features, else the labels, else one more than the largest id of
/// an edge.
NodeId count_nodes(const ArrayFolder& arrays, const DatasetDeclaration& declared, const Dataset& dataset) {
  const auto labels = dataset.features ? std::nullopt : arrays.find("labels");
  const bool counted = dataset.features || (labels && !labels->shape().empty());
  if (!counted)
    check_proportion(arrays, dataset, declared.num_nodes ? *declared.num_nodes - 1 : largest_id(dataset));
  const NodeId count = declared.num_nodes ? *declared.num_nodes
                       : dataset.features ? dataset.features->rows()
                       : counted          ? labels->shape()[0]
                                          : largest_id(dataset) + 1;
  if (count <= 0) {
    throw InputError({.what = "the dataset has no nodes",
                      .where = arrays.path().string(),
                      .found = fmt::format("{} nodes", count),
                      .expected = "at least one",
                      .next = "give features, labels or num_nodes in dataset.json"});
  }
  return count;
}

/// InputError unless it is one of the tasks.
void check_task(const std::string& task, const std::string& where) {
  if (std::find(kTasks.begin(), kTasks.end(), task) != kTasks.end()) return;
  throw InputError({.what = "unknown task",
                    .where = where,
                    .found = task,
                    .expected = fmt::format("{}", fmt::join(kTasks, ", ")),
                    .next = "correct dataset.json"});
}

}  // namespace

DatasetDeclaration read_declaration(const ArrayFolder& arrays, Dataset& dataset) {
  dataset.name = std::filesystem::absolute(arrays.path()).lexically_normal().stem().string();
  if (dataset.name.empty()) {  // a path that ends in a slash
    dataset.name =
        std::filesystem::absolute(arrays.path()).lexically_normal().parent_path().filename().string();
  }
  const auto source = arrays.find_file(kDescriptionName);
  if (!source) return {};
  std::string text(static_cast<std::size_t>(source->size()), '\0');
  source->read(0, std::as_writable_bytes(std::span(text)));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) {
    throw InputError({.what = "dataset.json is not a JSON object",
                      .where = source->name(),
                      .found = text.substr(0, 80),
                      .expected = "{\"name\": ..., \"num_nodes\": ...}",
                      .next = "correct or remove the file: it is optional"});
  }
  const auto& where = source->name();
  dataset.name = declared_value<std::string>(json, "name", where).value_or(dataset.name);
  dataset.declared_directed = declared_value<bool>(json, "directed", where);
  const auto task = declared_value<std::string>(json, "task", where);
  if (task) check_task(*task, where);
  return {declared_value<std::int64_t>(json, "num_nodes", where),
          declared_value<std::int32_t>(json, "num_classes", where), task};
}

Dataset load_dataset(const std::filesystem::path& path, const LoadOptions& options) {
  const auto arrays = open_arrays(path);
  Dataset dataset;
  const DatasetDeclaration declared = read_declaration(*arrays, dataset);
  read_edges(*arrays, dataset);
  dataset.features = open_features(*arrays);
  dataset.num_nodes = count_nodes(*arrays, declared, dataset);
  check_edges(*arrays, dataset);
  if (dataset.features) {
    if (dataset.features->rows() != dataset.num_nodes) {
      throw InputError(
          {.what = "the features have the wrong number of rows",
           .where = arrays->path().string(),
           .found = fmt::format("[{}, {}]", dataset.features->rows(), dataset.features->cols()),
           .expected = fmt::format("{} rows, as num_nodes in dataset.json says", dataset.num_nodes),
           .next = "write one row of features for every node"});
    }
    check_finite(*dataset.features, (arrays->path() / "features").string());
  }
  read_labels(*arrays, declared, dataset);
  read_split(*arrays, options, dataset);
  read_links(*arrays, dataset);
  return dataset;
}

}  // namespace halo::datasets
