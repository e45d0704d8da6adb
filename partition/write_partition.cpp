#include "halo/partition/write_partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>

#include "halo/base/error.hpp"
#include "halo/datasets/staged_folder.hpp"
#include "interrupt_guard.hpp"
#include "link_rows.hpp"
#include "sliced_file.hpp"

namespace halo::partition {
namespace {

using datasets::Split;

/// Bytes of feature rows that are held at a time (twice: as read and as written).
constexpr std::int64_t kFeatureBytes = std::int64_t{64} << 20;

/// Writes the sliced files of one partitioned dataset, one after the other.
class SliceWriter {
 public:
  SliceWriter(const SliceTarget& target, const datasets::Dataset& dataset, const PartitionedGraph& graph)
      : target_(target), dataset_(dataset), graph_(graph), node_bounds_(graph.order.part_offsets) {}

  std::map<std::string, SlicedRecord> write_all() {
    write_rows("", graph_.in);
    if (!graph_.symmetric) write_rows("out_", graph_.out);
    const auto& original = graph_.order.original_id;
    if (dataset_.feature_cols() > 0) keep(write_features());
    write_labels();
    keep(write_values<std::uint8_t>(target_, "split.npy", node_bounds_,
                                    [&](std::size_t i) { return dataset_.split[at(original[i])]; }));
    keep(write_values<std::int64_t>(target_, "original_id.npy", node_bounds_,
                                    [&](std::size_t i) { return original[i]; }));
    if (dataset_.task == datasets::kLinkPrediction) write_links();
    return std::move(records_);
  }
  /// Rows of each part in val_links.npy and test_links.npy; empty for other tasks.
  const std::map<std::string, std::vector<std::int64_t>>& link_offsets() const { return link_offsets_; }

 private:
  void keep(SlicedRecord record) { records_.emplace(record.file.name, std::move(record)); }

  void write_rows(const std::string& prefix, const graph::Csr& rows) {
    keep(write_indptr(prefix + "indptr.npy", rows.indptr));
    std::vector<std::int64_t> bounds;
    for (const NodeId node : node_bounds_) bounds.push_back(rows.indptr[at(node)]);
    const auto index = [&rows](std::size_t e) { return rows.indices[e]; };
    if (rows.num_nodes() <= std::numeric_limits<std::int32_t>::max()) {
      keep(write_values<std::int32_t>(target_, prefix + "indices.npy", bounds, index));
    } else {
      keep(write_values<std::int64_t>(target_, prefix + "indices.npy", bounds, index));
    }
    if (rows.weights.empty()) return;
    keep(write_values<float>(target_, prefix + "edge_weight.npy", bounds,
                             [&rows](std::size_t e) { return rows.weights[e]; }));
  }

  SlicedRecord write_indptr(const std::string& name, std::span<const EdgeId> indptr) {
    SlicedFile file(target_, name, datasets::dtype_of<std::int64_t>(), {std::ssize(indptr)});
    for (std::size_t k = 0; k + 1 < node_bounds_.size(); ++k) {
      const bool last = k + 2 == node_bounds_.size();
      const auto own = indptr.subspan(at(node_bounds_[k]), at(node_bounds_[k + 1] - node_bounds_[k]));
      const auto end = indptr.subspan(at(node_bounds_[k + 1]), 1);
      file.append(own);
      if (last) {
        file.append(end);
      } else {
        file.peek(end);
      }
      file.end_slice();
    }
    return file.finish();
  }

  void write_labels() {
    const auto& original = graph_.order.original_id;
    if (dataset_.task == datasets::kNodeClassification) {
      keep(write_values<std::int32_t>(target_, "labels.npy", node_bounds_,
                                      [&](std::size_t i) { return dataset_.labels[at(original[i])]; }));
    } else if (dataset_.task == datasets::kMultiLabel) {
      keep(write_label_rows<std::uint8_t>(dataset_.multi_labels));
    } else if (dataset_.task == datasets::kNodeRegression) {
      keep(write_label_rows<float>(dataset_.values));
    }
  }

  /// labels.npy [N, C] of `rows` by original id.
  template <typename T>
  SlicedRecord write_label_rows(std::span<const T> rows) {
    const auto cols = at(dataset_.num_classes);
    return write_rows_of<T>(target_, "labels.npy", node_bounds_, cols, [&](std::size_t i) {
      return rows.subspan(at(graph_.order.original_id[i]) * cols, cols);
    });
  }

  void write_links() {
    const datasets::LinkCounts counts = dataset_.link_counts();
    const auto new_id = graph_.order.new_ids();
    const auto cols = at(counts.cols());
    for (const auto& [split, links] :
         {std::pair("val", &dataset_.val_links), std::pair("test", &dataset_.test_links)}) {
      LinkRows rows = make_link_rows(*links, new_id, node_bounds_, counts);
      keep(write_rows_of<std::int64_t>(
          target_, fmt::format("{}_links.npy", split), rows.offsets, cols,
          [&](std::size_t i) { return std::span<const std::int64_t>(rows.values).subspan(i * cols, cols); }));
      link_offsets_[fmt::format("{}_link_offsets.npy", split)] = std::move(rows.offsets);
    }
  }

  SlicedRecord write_features() {
    const std::int64_t cols = dataset_.features->cols();
    SlicedFile file(target_, "features.npy", datasets::dtype_of<float>(), {graph_.in.num_nodes(), cols});
    const std::int64_t rows =
        std::max<std::int64_t>(1, kFeatureBytes / (4 * std::max<std::int64_t>(1, cols)));
    for (std::size_t k = 0; k + 1 < node_bounds_.size(); ++k) {
      for (NodeId begin = node_bounds_[k]; begin < node_bounds_[k + 1]; begin += rows) {
        const NodeId end = std::min(begin + rows, node_bounds_[k + 1]);
        append_feature_rows(std::span(graph_.order.original_id).subspan(at(begin), at(end - begin)), file);
      }
      file.end_slice();
    }
    return file.finish();
  }

  /// Reads the rows in the order of the source, which a disk likes, and writes them in the order of `ids`.
  void append_feature_rows(std::span<const NodeId> ids, SlicedFile& file) {
    const std::size_t cols = at(dataset_.features->cols());
    std::vector<std::size_t> by_id(ids.size());
    std::iota(by_id.begin(), by_id.end(), std::size_t{0});
    std::ranges::sort(by_id, {}, [&ids](std::size_t i) { return ids[i]; });
    std::vector<NodeId> sorted(ids.size());
    std::ranges::transform(by_id, sorted.begin(), [&ids](std::size_t i) { return ids[i]; });
    as_read_.resize(ids.size() * cols);
    as_written_.resize(ids.size() * cols);
    dataset_.features->read_rows(sorted, as_read_);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto row = std::span(as_read_).subspan(i * cols, cols);
      std::ranges::copy(row, as_written_.begin() + static_cast<std::ptrdiff_t>(by_id[i] * cols));
    }
    file.append(std::span<const float>(as_written_));
  }

  const SliceTarget& target_;
  const datasets::Dataset& dataset_;
  const PartitionedGraph& graph_;
  std::span<const NodeId> node_bounds_;
  std::map<std::string, SlicedRecord> records_;
  std::map<std::string, std::vector<std::int64_t>> link_offsets_;
  std::vector<float> as_read_;
  std::vector<float> as_written_;
};

void refuse(const datasets::Dataset& dataset, const std::string& what, const std::string& next) {
  throw InputError(
      {.what = what, .where = "dataset " + dataset.name, .found = "", .expected = "", .next = next});
}

void check_disk(const std::filesystem::path& folder, std::int64_t bytes) {
  const auto available = std::filesystem::space(folder).available;
  if (static_cast<std::uintmax_t>(bytes) > available) {
    throw Error(fmt::format("the disk of {} is too small: {:.1f} MB to write, {:.1f} MB free",
                            folder.string(), static_cast<double>(bytes) * 1e-6,
                            static_cast<double>(available) * 1e-6));
  }
}

std::int64_t count_split(const datasets::Dataset& dataset, Split split) {
  return std::ranges::count(dataset.split, split);
}

/// The unsliced files and checksums.npy; fills the manifest's checksums and run id.
void write_whole_files(const std::filesystem::path& folder, const PartitionedGraph& graph,
                       const std::map<std::string, std::vector<std::int64_t>>& link_offsets,
                       std::map<std::string, SlicedRecord>& records, datasets::PartitionManifest& manifest) {
  const auto write = [&](const std::string& name, std::span<const std::int64_t> values) {
    datasets::write_npy(folder / name, values, std::array{std::ssize(values)});
    manifest.whole_file_checksums[name] = datasets::file_checksum(folder / name);
  };
  write("part_offsets.npy", graph.order.part_offsets);
  write("tile_offsets.npy", graph.tiles.tile_offsets);
  write("group_offsets.npy", graph.tiles.group_offsets);
  for (const auto& [name, offsets] : link_offsets) write(name, offsets);
  std::vector<std::uint64_t> checksums;
  const auto names = datasets::sliced_file_names(manifest);
  for (std::size_t row = 0; row < names.size(); ++row) {
    SlicedRecord& record = records.at(names[row]);
    record.file.checksum_row = static_cast<std::int64_t>(row);
    checksums.insert(checksums.end(), record.checksums.begin(), record.checksums.end());
    manifest.files[names[row]] = record.file;
  }
  datasets::write_npy(folder / "checksums.npy", std::span<const std::uint64_t>(checksums),
                      std::array{std::ssize(names), static_cast<std::int64_t>(manifest.parts)});
  manifest.whole_file_checksums["checksums.npy"] = datasets::file_checksum(folder / "checksums.npy");
  manifest.run_id = datasets::make_run_id(checksums, manifest.whole_file_checksums);
}

datasets::PartitionManifest describe(const datasets::Dataset& dataset, const PartitionedGraph& graph) {
  datasets::PartitionManifest manifest;
  manifest.name = dataset.name;
  manifest.num_nodes = graph.in.num_nodes();
  manifest.num_edges = graph.in.num_edges();
  manifest.feature_cols = dataset.feature_cols();
  manifest.num_classes = dataset.num_classes;
  manifest.task = dataset.task;
  manifest.links = dataset.link_counts();
  manifest.symmetric = graph.symmetric;
  manifest.weighted = !graph.in.weights.empty();
  manifest.parts = graph.parts();
  manifest.tile_rows = graph.tiles.tile_rows;
  manifest.tiles_per_group = graph.tiles.tiles_per_group;
  manifest.train_nodes = count_split(dataset, Split::kTrain);
  manifest.val_nodes = count_split(dataset, Split::kValidation);
  manifest.test_nodes = count_split(dataset, Split::kTest);
  manifest.quality = to_json(graph.quality);
  return manifest;
}

}  // namespace

void check_trainable(const datasets::Dataset& dataset) {
  if (dataset.task == datasets::kLinkPrediction) return;
  if (!dataset.has_labels()) {
    refuse(dataset, "the dataset has no labels",
           "add labels.npy [N], -1 where unknown, or hold out edges with gnn_dataset split-edges");
  }
  if (count_split(dataset, Split::kTrain) == 0) {
    refuse(dataset, "the dataset has no training nodes",
           "add train_idx.npy or train_masks.npy (and val_*, test_*)");
  }
}

std::int64_t bytes_to_write(const datasets::Dataset& dataset, const PartitionedGraph& graph) {
  const std::int64_t nodes = graph.in.num_nodes();
  const std::int64_t id_bytes = nodes <= std::numeric_limits<std::int32_t>::max() ? 4 : 8;
  const std::int64_t entry_bytes = id_bytes + (graph.in.weights.empty() ? 0 : 4);
  const std::int64_t rows_bytes = 8 * (nodes + 1) + entry_bytes * graph.in.num_edges();
  const std::int64_t label_bytes = dataset.task == datasets::kNodeClassification ? 4
                                   : dataset.task == datasets::kMultiLabel       ? dataset.num_classes
                                   : dataset.task == datasets::kNodeRegression   ? 4 * dataset.num_classes
                                                                                 : 0;
  const std::int64_t node_bytes = 4 * dataset.feature_cols() + label_bytes + 1 + 8;
  const std::int64_t link_bytes =
      8 * (3 * (dataset.val_links.size() + dataset.test_links.size()) +
           std::ssize(dataset.val_links.negatives) + std::ssize(dataset.test_links.negatives));
  const std::int64_t offsets_bytes =
      8 * (std::ssize(graph.tiles.tile_offsets) + std::ssize(graph.tiles.group_offsets));
  // Per part: up to three offsets, up to twelve checksums.
  return rows_bytes * (graph.symmetric ? 1 : 2) + node_bytes * nodes + link_bytes + offsets_bytes +
         std::int64_t{120} * graph.parts();
}

datasets::PartitionManifest write_partition(const std::filesystem::path& folder,
                                            const datasets::Dataset& dataset, const PartitionedGraph& graph,
                                            const nlohmann::json& options) {
  check_trainable(dataset);
  const InterruptGuard interrupt;
  datasets::StagedFolder output(folder);
  check_disk(output.path(), bytes_to_write(dataset, graph));
  datasets::PartitionManifest manifest = describe(dataset, graph);
  manifest.options = options;
  const SliceTarget target{.folder = output.path(), .interrupt = interrupt};
  SliceWriter writer(target, dataset, graph);
  auto records = writer.write_all();
  write_whole_files(output.path(), graph, writer.link_offsets(), records, manifest);
  interrupt.check();
  datasets::write_manifest(output.path(), manifest);
  output.commit();
  return manifest;
}

}  // namespace halo::partition
