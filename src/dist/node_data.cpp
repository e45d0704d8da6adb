#include "node_data.hpp"

#include "halo/mpi/communicator.hpp"

namespace halo::dist {
namespace {

void read_features(const Source& source, LocalPartition& local) {
  const std::int64_t cols = source.folder.manifest.feature_cols;
  if (cols == 0) return;
  source.communicator.agree(
      [&] { local.features = Buffer<float>(source.reader.range("features.npy").size()); });
  source.reader.read<float>("features.npy", local.features.span());
  source.communicator.agree([&] {
    check_values<float>(source, "features.npy", local.features.span(), cols, source.owned.begin, is_finite,
                        "finite features");
  });
}

void read_labels(const Source& source, LocalPartition& local) {
  const datasets::PartitionManifest& manifest = source.folder.manifest;
  const std::int32_t classes = manifest.num_classes;
  const std::int64_t first = source.owned.begin;
  if (manifest.task == datasets::kNodeClassification) {
    local.labels = read_checked<std::int32_t>(
        source, "labels.npy", 1, first, [&](std::int32_t label) { return label >= -1 && label < classes; },
        fmt::format("labels in [0, {}), or -1 for unknown", classes));
  } else if (manifest.task == datasets::kMultiLabel) {
    local.multi_labels = read_checked<std::uint8_t>(
        source, "labels.npy", classes, first, [](std::uint8_t label) { return label <= 1; }, "0 or 1");
  } else if (manifest.task == datasets::kNodeRegression) {
    local.values = read_checked<float>(
        source, "labels.npy", classes, first, [](float value) { return !std::isinf(value); },
        "finite targets, or NaN for unknown");
  }
}

/// `links`: in the list; `own`: nodes of the part that the link stands with.
void check_link(const PartitionFolder& folder, const std::string& file, std::span<const std::int64_t> row,
                std::int64_t links, RowRange own) {
  const NodeId nodes = folder.manifest.num_nodes;
  const bool good = row[0] < links && row[1] >= own.begin && row[1] < own.end &&
                    std::all_of(row.begin() + 1, row.end(), [&](NodeId id) { return id < nodes; });
  if (good) return;
  refuse(folder.path / file, "has a link that cannot be", fmt::format("[{}]", fmt::join(row, ", ")),
         fmt::format("a place in [0, {}), a node in [{}, {}), nodes in [0, {})", links, own.begin, own.end,
                     nodes));
}

/// Rows of this rank: place, u, v, v' ...
LinkSet read_links(const Source& source, const std::string& file, std::span<const std::int64_t> offsets,
                   const Ownership& ownership) {
  const std::int64_t cols = source.folder.manifest.links.cols();
  const auto rank = at(source.communicator.rank());
  const PartId first = ownership.first_part[rank];
  const PartId last = ownership.first_part[rank + 1];
  const auto rows = read_checked<std::int64_t>(
      source, file, cols, offsets[at(first)], [&](std::int64_t id) { return id >= 0; }, "ids from 0 on");
  LinkSet links;
  links.negatives_each = source.folder.manifest.links.negatives;
  links.global_size = offsets.back();
  source.communicator.agree([&] {
    for (PartId part = first; part < last; ++part) {
      const RowRange own = {source.folder.part_offsets[at(part)], source.folder.part_offsets[at(part) + 1]};
      while (links.size() < offsets[at(part) + 1] - offsets[at(first)]) {
        const auto row = std::span(rows).subspan(at(links.size() * cols), at(cols));
        check_link(source.folder, file, row, links.global_size, own);
        links.position.push_back(row[0]);
        links.sources.push_back(row[1]);
        links.targets.push_back(row[2]);
        links.negatives.insert(links.negatives.end(), row.begin() + 3, row.end());
      }
      links.part_offsets.push_back(links.size());
    }
  });
  return links;
}

}  // namespace

void read_node_data(const Source& source, LocalPartition& local) {
  const PartitionFolder& folder = source.folder;
  read_features(source, local);
  read_labels(source, local);
  local.split = read_checked<std::uint8_t>(
      source, "split.npy", 1, source.owned.begin, [](std::uint8_t split) { return split <= 3; },
      "0 none, 1 train, 2 validation, 3 test");
  local.graph.original_id = read_checked<NodeId>(
      source, "original_id.npy", 1, source.owned.begin,
      [&](NodeId id) { return id >= 0 && id < folder.manifest.num_nodes; },
      fmt::format("ids in [0, {})", folder.manifest.num_nodes));
  if (folder.manifest.task != datasets::kLinkPrediction) return;
  local.val_links = read_links(source, "val_links.npy", folder.val_link_offsets, local.ownership);
  local.test_links = read_links(source, "test_links.npy", folder.test_link_offsets, local.ownership);
}

}  // namespace halo::dist
