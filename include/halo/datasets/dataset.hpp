#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "halo/base/ids.hpp"
#include "halo/datasets/features.hpp"
#include "halo/datasets/partitioned_dataset.hpp"

namespace halo::datasets {

inline constexpr const char* kNodeClassification = "node_classification";
inline constexpr const char* kMultiLabelClassification = "multi_label_classification";

/// What a user brings: one graph with features, labels and a split, nodes by their original ids. See
/// datasets/README.md.
struct Dataset {
  std::string name;
  NodeId num_nodes = 0;
  std::int32_t num_classes = 0;  ///< 0 without labels
  bool multi_label = false;

  /// Edge e goes sources[e] -> targets[e] and is aggregated at its target. As found: loops and duplicates are
  /// kept, an undirected edge stands there in both directions.
  std::vector<NodeId> sources, targets;
  std::vector<float> edge_weight;         ///< one for each edge; empty: every edge weighs 1
  std::optional<bool> declared_directed;  ///< what dataset.json says; the edges themselves are not asked

  std::shared_ptr<const FeatureSource> features;  ///< null without features; all finite
  std::vector<std::int32_t> labels;               ///< [N], -1 unknown; empty if multi_label or without labels
  std::vector<std::uint8_t> multi_labels;         ///< [N, num_classes] 0 / 1; empty unless multi_label
  std::vector<Split> split;                       ///< [N]; nodes in a split have a label

  EdgeId num_edges() const { return static_cast<EdgeId>(sources.size()); }
  std::int64_t feature_cols() const { return features ? features->cols() : 0; }
  const char* task() const { return multi_label ? kMultiLabelClassification : kNodeClassification; }
};

struct LoadOptions {
  /// Row of train_masks / val_masks / test_masks. Unset: train_idx / val_idx / test_idx, or row 0 of the
  /// masks without those.
  std::optional<std::int64_t> split;
};

/// Reads and checks a dataset: a folder of .npy files, a .npz file, or a folder that holds nothing but one
/// .npz. InputError says what is wrong. The edges are held in memory; features stay in their file (those of a
/// .npz file in memory).
Dataset load_dataset(const std::filesystem::path& path, const LoadOptions& options = {});

/// Writes the files of a dataset into an existing folder: ids of 4 bytes where N allows, features as float32
/// (sparse ones as compressed sparse rows), splits as ids, dataset.json last.
void write_dataset(const std::filesystem::path& folder, const Dataset& dataset);

}  // namespace halo::datasets
