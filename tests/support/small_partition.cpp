#include "support/small_partition.hpp"

#include <functional>
#include <map>
#include <string>

#include "halo/datasets/npy.hpp"
#include "halo/datasets/partitioned_dataset.hpp"
#include "support/small_graphs.hpp"

namespace halo::testing {
namespace {

using datasets::PartitionManifest;

/// Writes one folder, collecting what the manifest says of each file.
class FolderWriter {
 public:
  FolderWriter(const std::filesystem::path& folder, const SmallPartition& partition,
               PartitionManifest& manifest)
      : folder_(folder), parts_(partition.part_offsets.size() - 1), manifest_(manifest) {}

  /// A sliced file: `bounds` gives the first and one past the last element of a part.
  template <typename T>
  void sliced(const std::string& name, const std::vector<T>& values, std::vector<std::int64_t> shape,
              const std::function<std::pair<std::int64_t, std::int64_t>(std::size_t)>& bounds) {
    datasets::write_npy<T>(folder_ / name, values, shape);
    for (std::size_t part = 0; part < parts_; ++part) {
      const auto [begin, end] = bounds(part);
      checksums_.push_back(
          datasets::slice_checksum(values.data() + begin, static_cast<std::size_t>(end - begin) * sizeof(T)));
    }
    manifest_.files[name] = {.name = name,
                             .dtype = datasets::dtype_of<T>(),
                             .shape = std::move(shape),
                             .bytes = static_cast<std::int64_t>(std::filesystem::file_size(folder_ / name)),
                             .checksum_row = static_cast<std::int64_t>(manifest_.files.size())};
  }
  template <typename T>
  void whole(const std::string& name, const std::vector<T>& values, std::vector<std::int64_t> shape) {
    datasets::write_npy<T>(folder_ / name, values, shape);
    manifest_.whole_file_checksums[name] = datasets::file_checksum(folder_ / name);
  }
  void checksums() {
    whole("checksums.npy", checksums_,
          {static_cast<std::int64_t>(manifest_.files.size()), static_cast<std::int64_t>(parts_)});
    manifest_.run_id = datasets::make_run_id(checksums_, manifest_.whole_file_checksums);
  }

 private:
  std::filesystem::path folder_;
  std::size_t parts_;
  PartitionManifest& manifest_;
  std::vector<std::uint64_t> checksums_;
};

void write_edges(FolderWriter& writer, const std::string& prefix, const graph::Csr& graph,
                 const std::vector<NodeId>& offsets) {
  const auto edges = [&](std::size_t part) {
    return std::pair(graph.indptr[static_cast<std::size_t>(offsets[part])],
                     graph.indptr[static_cast<std::size_t>(offsets[part + 1])]);
  };
  writer.sliced<EdgeId>(prefix + "indptr.npy", graph.indptr, {static_cast<std::int64_t>(graph.indptr.size())},
                        [&](std::size_t part) { return std::pair(offsets[part], offsets[part + 1] + 1); });
  const std::vector<std::int32_t> indices(graph.indices.begin(), graph.indices.end());
  writer.sliced<std::int32_t>(prefix + "indices.npy", indices, {graph.num_edges()}, edges);
  if (!graph.weights.empty()) {
    writer.sliced<float>(prefix + "edge_weight.npy", graph.weights, {graph.num_edges()}, edges);
  }
}

datasets::LinkCounts link_counts(const SmallPartition& partition) {
  datasets::LinkCounts counts;
  counts.validation = std::ssize(partition.links[0]);
  counts.test = std::ssize(partition.links[1]);
  for (const auto& rows : partition.links) {
    if (!rows.empty()) counts.negatives = std::ssize(rows[0]) - 3;
  }
  return counts;
}

void write_links(FolderWriter& writer, const SmallPartition& partition) {
  const std::int64_t cols = 3 + link_counts(partition).negatives;
  for (std::size_t set = 0; set < 2; ++set) {
    const std::string split = set == 0 ? "val" : "test";
    const auto& offsets = partition.link_offsets[set];
    std::vector<std::int64_t> values;
    for (const auto& row : partition.links[set]) values.insert(values.end(), row.begin(), row.end());
    writer.sliced<std::int64_t>(
        split + "_links.npy", values, {std::ssize(partition.links[set]), cols},
        [&](std::size_t part) { return std::pair(offsets[part] * cols, offsets[part + 1] * cols); });
    writer.whole<std::int64_t>(split + "_link_offsets.npy", offsets, {std::ssize(offsets)});
  }
}

}  // namespace

SmallPartition make_small_partition(const graph::Csr& in_edges, int parts) {
  SmallPartition partition;
  const NodeId nodes = in_edges.num_nodes();
  partition.part_offsets = even_offsets(nodes, parts);
  partition.tile_offsets = tile_offsets_of(partition.part_offsets, 4);
  partition.group_offsets = group_offsets_of(partition.part_offsets, partition.tile_offsets, 2);
  partition.in = in_edges;
  partition.symmetric = graph::is_symmetric(in_edges);
  if (!partition.symmetric) partition.out = graph::transpose(in_edges);
  for (NodeId node = 0; node < nodes; ++node) {
    for (std::int64_t c = 0; c < partition.feature_cols; ++c) {
      partition.features.push_back(static_cast<float>(node) + static_cast<float>(c) / 8.0F);
    }
    partition.labels.push_back(static_cast<std::int32_t>(node % 5) - 1);
    partition.split.push_back(static_cast<std::uint8_t>(node % 4));
    partition.original_id.push_back(nodes - 1 - node);
  }
  return partition;
}

void write_small_partition(const std::filesystem::path& folder, const SmallPartition& partition) {
  std::filesystem::create_directories(folder);
  const auto& offsets = partition.part_offsets;
  PartitionManifest manifest;
  manifest.name = "small";
  manifest.num_nodes = offsets.back();
  manifest.num_edges = partition.in.num_edges();
  manifest.feature_cols = partition.feature_cols;
  manifest.num_classes = partition.num_classes;
  manifest.symmetric = partition.symmetric;
  manifest.weighted = !partition.in.weights.empty();
  manifest.task = partition.task;
  manifest.links = link_counts(partition);
  manifest.parts = static_cast<PartId>(offsets.size()) - 1;
  manifest.tile_rows = 4;
  manifest.tiles_per_group = 2;
  manifest.options = nlohmann::json::object();
  manifest.quality = nlohmann::json::object();

  FolderWriter writer(folder, partition, manifest);
  write_edges(writer, "", partition.in, offsets);
  if (!partition.symmetric) write_edges(writer, "out_", partition.out, offsets);
  const auto nodes = [&](std::size_t part) { return std::pair(offsets[part], offsets[part + 1]); };
  const auto matrix = [&]<typename T>(const std::string& name, const std::vector<T>& values,
                                      std::int64_t cols) {
    writer.sliced<T>(name, values, {manifest.num_nodes, cols}, [&offsets, cols](std::size_t part) {
      return std::pair(offsets[part] * cols, offsets[part + 1] * cols);
    });
  };
  if (partition.feature_cols > 0) matrix("features.npy", partition.features, partition.feature_cols);
  if (manifest.task == datasets::kNodeClassification)
    writer.sliced<std::int32_t>("labels.npy", partition.labels, {manifest.num_nodes}, nodes);
  if (manifest.task == datasets::kMultiLabel)
    matrix("labels.npy", partition.multi_labels, manifest.num_classes);
  if (manifest.task == datasets::kNodeRegression)
    matrix("labels.npy", partition.values, manifest.num_classes);
  writer.sliced<std::uint8_t>("split.npy", partition.split, {manifest.num_nodes}, nodes);
  writer.sliced<std::int64_t>("original_id.npy", partition.original_id, {manifest.num_nodes}, nodes);
  if (manifest.task == datasets::kLinkPrediction) write_links(writer, partition);
  writer.whole<NodeId>("part_offsets.npy", offsets, {manifest.parts + 1});
  writer.whole<NodeId>("tile_offsets.npy", partition.tile_offsets,
                       {static_cast<std::int64_t>(partition.tile_offsets.size())});
  writer.whole<std::int64_t>("group_offsets.npy", partition.group_offsets,
                             {static_cast<std::int64_t>(partition.group_offsets.size())});
  writer.checksums();
  datasets::write_manifest(folder, manifest);
}

}  // namespace halo::testing
