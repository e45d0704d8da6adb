#pragma once

// The steps of load_dataset(). Each reads some arrays into `dataset` and checks them against what is there
// already.

#include "halo/datasets/array_folder.hpp"
#include "halo/datasets/dataset.hpp"

namespace halo::datasets {

/// What dataset.json declares; all of it optional.
struct DatasetDeclaration {
  std::optional<NodeId> num_nodes;
  std::optional<std::int32_t> num_classes;
  std::optional<std::string> task;
};

/// Reads dataset.json, if there is one, and the name and direction into `dataset`.
DatasetDeclaration read_declaration(const ArrayFolder& arrays, Dataset& dataset);

/// labels.npy: [N], [N, 1] or, multi-label, [N, C]. Needs num_nodes.
void read_labels(const ArrayFolder& arrays, const DatasetDeclaration& declared, Dataset& dataset);

/// The split of every node. Needs num_nodes and the labels.
void read_split(const ArrayFolder& arrays, const LoadOptions& options, Dataset& dataset);

}  // namespace halo::datasets
