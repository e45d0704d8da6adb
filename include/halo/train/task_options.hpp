#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halo::train {

/// How the outputs are judged, beside what the dataset says.
struct TaskOptions {
  /// Single label: "none"; "balanced" (training rows / (classes rows of the class)); or one number for each
  /// class, "1,0.5,2".
  std::string class_weights = "none";
  double label_smoothing = 0.0;         ///< single label
  std::string regression_loss = "mse";  ///< regression: mse or mae
  std::vector<std::string> metrics{};   ///< see metrics.hpp; empty: those of the task
  bool inductive = false;               ///< train on the subgraph of the training nodes, judge on the whole
  std::int64_t negatives = 1;           ///< link prediction: non-edges drawn for each edge and epoch
  std::vector<std::int64_t> hits_k{10, 20, 50, 100};  ///< link prediction: the K of Hits@K
};

}  // namespace halo::train
