#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "halo/datasets/dataset.hpp"

namespace halo::datasets {

/// Figures of a dataset, counted from its arrays.
struct DatasetInfo {
  std::string name, task;
  NodeId nodes = 0;
  EdgeId edges = 0;  ///< columns of edge_index: an undirected edge counts twice
  EdgeId loops = 0;
  EdgeId duplicates = 0;             ///< columns beyond the first of the same edge
  bool symmetric = true;             ///< every edge stands there in both directions, with the same weight
  bool declared_undirected = false;  ///< dataset.json says "directed": false
  bool weighted = false;
  NodeId isolated = 0;                    ///< nodes without any edge but loops
  EdgeId degree_min = 0, degree_max = 0;  ///< of the in-degree
  double degree_mean = 0;
  std::int64_t feature_cols = 0;
  std::string feature_dtype;  ///< empty without features
  bool feature_sparse = false;
  std::int64_t feature_nonzeros = 0;  ///< of sparse features: stored entries
  std::int32_t classes = 0;
  NodeId labelled = 0;
  NodeId train = 0, val = 0, test = 0;
  std::int64_t val_links = 0, test_links = 0, negatives = 0;  ///< link prediction; negatives of each edge
  /// Share of the edges (without loops) between two labelled nodes that join nodes of one class; -1 if there
  /// is none.
  double homophily = -1;
};

DatasetInfo describe(const Dataset& dataset);
/// A table for people.
std::string to_text(const DatasetInfo& info);
nlohmann::json to_json(const DatasetInfo& info);

}  // namespace halo::datasets
