#pragma once

#include <algorithm>
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

/// Edges that are held out to be predicted, in the user's order.
struct HeldOutLinks {
  std::vector<NodeId> sources, targets;
  /// negatives_each nodes v' for each edge (u, v), (u, v') being no edge: those of edge e stand at
  /// [e negatives_each, (e + 1) negatives_each).
  std::vector<NodeId> negatives;
  std::int64_t negatives_each = 0;

  std::int64_t size() const { return static_cast<std::int64_t>(sources.size()); }
};

/// What a user brings: one graph with features, labels and a split, nodes by their original ids. See
/// datasets/README.md.
struct Dataset {
  std::string name;
  NodeId num_nodes = 0;
  std::int32_t num_classes = 0;  ///< 0 without labels; number of targets of a regression
  std::string task = kNodeClassification;

  /// Edge e goes sources[e] -> targets[e] and is aggregated at its target. As found: loops and duplicates are
  /// kept, an undirected edge stands there in both directions.
  std::vector<NodeId> sources, targets;
  std::vector<float> edge_weight;         ///< one for each edge; empty: every edge weighs 1
  std::optional<bool> declared_directed;  ///< what dataset.json says; the edges themselves are not asked

  std::shared_ptr<const FeatureSource> features;  ///< null without features; all finite
  std::vector<std::int32_t> labels;        ///< node classification: [N], -1 unknown; empty without labels
  std::vector<std::uint8_t> multi_labels;  ///< multi-label: [N, num_classes] 0 / 1
  std::vector<float> values;               ///< node regression: [N, num_classes], NaN unknown
  std::vector<Split> split;                ///< [N]; nodes in a split have a label
  HeldOutLinks val_links, test_links;      ///< link prediction: none of them among the edges

  EdgeId num_edges() const { return static_cast<EdgeId>(sources.size()); }
  std::int64_t feature_cols() const { return features ? features->cols() : 0; }
  bool has_labels() const { return !labels.empty() || !multi_labels.empty() || !values.empty(); }
  /// Whether anything is known of what the node is to be predicted as.
  bool has_label(NodeId node) const;
  /// An empty set of links knows of no negatives, so those of the other one count.
  LinkCounts link_counts() const {
    return {.validation = val_links.size(),
            .test = test_links.size(),
            .negatives = std::max(val_links.negatives_each, test_links.negatives_each)};
  }
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
