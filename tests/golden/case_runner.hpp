#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "halo/nn/models.hpp"
#include "halo/nn/targets.hpp"
#include "halo/optim/optimizer.hpp"

namespace halo::test {

/// One comparison with another framework: a folder with case.json (these fields), arrays.npz (the parameters
/// as `param.<name>`, in the shape and order of a weights file, and what was expected) and the dataset folder
/// that case.json names, relative to it.
struct Case {
  std::filesystem::path folder;
  std::filesystem::path dataset;
  nn::ModelOptions model;
  nn::Task task = nn::Task::kSingleLabel;
  std::int64_t outputs = 0;
  std::vector<double> class_weights;
  double label_smoothing = 0.0;
  optim::OptimizerOptions optimizer;
  int steps = 10;
};

/// Throws on a field that is missing or that no option has.
Case read_case(const std::filesystem::path& folder);

/// What a case computes. Arrays are flat, gradients in the order of a weights file.
struct CaseResult {
  std::vector<double> logits;  ///< before any step, as evaluation sees them
  std::vector<double> loss;    ///< the training loss, one number
  std::map<std::string, std::vector<double>> gradients;
  std::vector<double> losses;        ///< before each optimiser step
  std::vector<double> logits_after;  ///< behind the last step, as evaluation sees them
};

/// Runs a case on the whole graph in small tiles, on two threads. Real: float or double.
template <typename Real>
CaseResult run_case(const Case& options);

}  // namespace halo::test
