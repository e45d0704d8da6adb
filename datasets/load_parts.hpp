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

/// The task and labels.npy: [N] or [N, 1] classes, [N, C] several of them, [N] or [N, C] floats. A declared
/// task counts, else the type and shape of the array tell. Needs num_nodes.
void read_labels(const ArrayFolder& arrays, const DatasetDeclaration& declared, Dataset& dataset);

/// The split of every node; all kNone for link prediction, which splits edges. Needs num_nodes and the
/// labels.
void read_split(const ArrayFolder& arrays, const LoadOptions& options, Dataset& dataset);

/// Link prediction: val_edges, val_negatives, test_edges, test_negatives, [2, links] each. Needs num_nodes
/// and the task.
void read_links(const ArrayFolder& arrays, Dataset& dataset);

}  // namespace halo::datasets
