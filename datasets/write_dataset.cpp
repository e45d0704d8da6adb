#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "halo/datasets/dataset.hpp"

namespace halo::datasets {
namespace {

using Folder = std::filesystem::path;
using Shape = std::vector<std::int64_t>;

constexpr std::int64_t kChunk = 1 << 18;

/// Writes ids as int32 where `num_nodes` allows, converting a chunk at a time.
void write_ids(NpyWriter& writer, std::span<const NodeId> ids, bool narrow) {
  if (!narrow) return writer.write(ids);
  std::vector<std::int32_t> chunk;
  for (std::size_t begin = 0; begin < ids.size(); begin += kChunk) {
    const auto part = ids.subspan(begin, std::min<std::size_t>(kChunk, ids.size() - begin));
    chunk.resize(part.size());
    std::transform(part.begin(), part.end(), chunk.begin(),
                   [](NodeId id) { return static_cast<std::int32_t>(id); });
    writer.write(std::span<const std::int32_t>(chunk));
  }
}

void write_edges(const Folder& folder, const Dataset& dataset) {
  const bool narrow = dataset.num_nodes <= std::numeric_limits<std::int32_t>::max();
  NpyWriter writer(folder / "edge_index.npy", narrow ? dtype_of<std::int32_t>() : dtype_of<std::int64_t>(),
                   Shape{2, dataset.num_edges()});
  write_ids(writer, dataset.sources, narrow);
  write_ids(writer, dataset.targets, narrow);
  writer.finish();
  if (!dataset.edge_weight.empty()) {
    write_npy<float>(folder / "edge_weight.npy", dataset.edge_weight, Shape{dataset.num_edges()});
  }
}

void write_dense(const Folder& folder, const FeatureSource& features) {
  NpyWriter writer(folder / "features.npy", dtype_of<float>(), Shape{features.rows(), features.cols()});
  const std::int64_t step = std::max<std::int64_t>(1, kChunk / std::max<std::int64_t>(features.cols(), 1));
  std::vector<float> values;
  for (std::int64_t begin = 0; begin < features.rows(); begin += step) {
    const RowRange rows{begin, std::min(begin + step, features.rows())};
    values.resize(static_cast<std::size_t>(rows.size() * features.cols()));
    features.read_rows(rows, values);
    writer.write(std::span<const float>(values));
  }
  writer.finish();
}

void write_sparse(const Folder& folder, const SparseFeatures& features) {
  write_npy<std::int64_t>(folder / "feat_shape.npy", Shape{features.rows(), features.cols()}, Shape{2});
  write_npy<std::int64_t>(folder / "feat_indptr.npy", features.indptr(), Shape{features.rows() + 1});
  NpyWriter columns(folder / "feat_indices.npy", dtype_of<std::int32_t>(), Shape{features.num_entries()});
  NpyWriter values(folder / "feat_values.npy", dtype_of<float>(), Shape{features.num_entries()});
  constexpr std::int64_t kRows = 1024;
  for (std::int64_t begin = 0; begin < features.rows(); begin += kRows) {
    const auto entries = features.read_entries({begin, std::min(begin + kRows, features.rows())});
    columns.write(std::span<const std::int32_t>(entries.columns));
    values.write(std::span<const float>(entries.values));
  }
  columns.finish();
  values.finish();
}

void write_labels(const Folder& folder, const Dataset& dataset) {
  const Shape matrix{dataset.num_nodes, dataset.num_classes};
  const auto file = folder / "labels.npy";
  if (!dataset.labels.empty()) write_npy<std::int32_t>(file, dataset.labels, Shape{dataset.num_nodes});
  if (!dataset.multi_labels.empty()) write_npy<std::uint8_t>(file, dataset.multi_labels, matrix);
  if (!dataset.values.empty()) write_npy<float>(file, dataset.values, matrix);
}

void write_links(const Folder& folder, const std::string& split, const HeldOutLinks& links) {
  if (links.size() == 0) return;
  const auto write = [&](const std::string& name, std::vector<NodeId> pairs,
                         std::span<const NodeId> targets) {
    pairs.insert(pairs.end(), targets.begin(), targets.end());
    write_npy<NodeId>(folder / (split + name), pairs, Shape{2, static_cast<std::int64_t>(targets.size())});
  };
  write("_edges.npy", links.sources, links.targets);
  std::vector<NodeId> repeated;
  for (const NodeId source : links.sources) repeated.insert(repeated.end(), at(links.negatives_each), source);
  write("_negatives.npy", std::move(repeated), links.negatives);
}

void write_split(const Folder& folder, const char* name, const Dataset& dataset, Split split) {
  std::vector<NodeId> ids;
  for (NodeId node = 0; node < dataset.num_nodes; ++node) {
    if (dataset.split[static_cast<std::size_t>(node)] == split) ids.push_back(node);
  }
  if (!ids.empty()) write_npy<NodeId>(folder / name, ids, Shape{static_cast<std::int64_t>(ids.size())});
}

}  // namespace

void write_dataset(const Folder& folder, const Dataset& dataset) {
  write_edges(folder, dataset);
  if (dataset.features) {
    if (const auto* sparse = dataset.features->as_sparse()) {
      write_sparse(folder, *sparse);
    } else {
      write_dense(folder, *dataset.features);
    }
  }
  write_labels(folder, dataset);
  if (dataset.task == kLinkPrediction) {
    write_links(folder, "val", dataset.val_links);
    write_links(folder, "test", dataset.test_links);
  }
  write_split(folder, "train_idx.npy", dataset, Split::kTrain);
  write_split(folder, "val_idx.npy", dataset, Split::kValidation);
  write_split(folder, "test_idx.npy", dataset, Split::kTest);

  nlohmann::json description = {{"name", dataset.name}, {"num_nodes", dataset.num_nodes}};
  if (dataset.num_classes > 0) description["num_classes"] = dataset.num_classes;
  if (dataset.num_classes > 0 || dataset.task == kLinkPrediction) description["task"] = dataset.task;
  if (dataset.declared_directed) description["directed"] = *dataset.declared_directed;
  write_text_file(folder / "dataset.json", description.dump(2) + "\n");
}

}  // namespace halo::datasets
