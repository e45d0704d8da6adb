#pragma once

#include <memory>

#include "halo/datasets/dataset.hpp"
#include "partition/small_graphs.hpp"

namespace halo::partition {

/// Value of a feature: tells row and column apart.
inline float feature_value(NodeId node, std::int64_t col) {
  return static_cast<float>(node) + 0.125F * static_cast<float>(col);
}

/// A dataset with three features, four classes and every kind of split.
inline datasets::Dataset small_dataset(const EdgeList& edges) {
  datasets::Dataset dataset;
  dataset.name = "small";
  dataset.num_nodes = edges.nodes;
  dataset.num_classes = 4;
  dataset.sources = edges.sources;
  dataset.targets = edges.targets;
  dataset.edge_weight = edges.weights;
  dataset.features =
      std::make_shared<datasets::ComputedFeatures>(edges.nodes, 3, [](NodeId node, std::span<float> out) {
        for (std::size_t col = 0; col < out.size(); ++col)
          out[col] = feature_value(node, static_cast<std::int64_t>(col));
      });
  for (NodeId i = 0; i < edges.nodes; ++i) {
    dataset.split.push_back(i == 0 ? datasets::Split::kTrain : static_cast<datasets::Split>(i % 4));
    dataset.labels.push_back(
        dataset.split.back() == datasets::Split::kNone ? -1 : static_cast<std::int32_t>(i % 3));
  }
  return dataset;
}

inline std::vector<std::uint8_t> train_flags(const datasets::Dataset& dataset) {
  std::vector<std::uint8_t> flags;
  for (const datasets::Split split : dataset.split) flags.push_back(split == datasets::Split::kTrain ? 1 : 0);
  return flags;
}

}  // namespace halo::partition
