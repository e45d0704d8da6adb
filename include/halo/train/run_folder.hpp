#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "halo/mpi/communicator.hpp"
#include "halo/nn/program.hpp"

namespace halo::train {

/// The folder of one run, written by rank 0 alone: config.json, metrics.jsonl (a line per epoch, flushed),
/// summary.json, weights.safetensors.
class RunFolder {
 public:
  /// InputError if `path` exists and is not an empty folder. Creates it and writes config.json.
  RunFolder(const std::filesystem::path& path, const nlohmann::json& config);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  void append_metrics(const nlohmann::ordered_json& line);
  void write_summary(const nlohmann::json& summary);
  /// Weights by name, row-major [rows x cols] (biases [cols]), in the safetensors format.
  void write_weights(const nn::Program& program, std::span<const float> parameters);

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::FILE* metrics_ = nullptr;
};

/// InputError if a run cannot go to `path`; touches nothing.
void check_run_path(const std::filesystem::path& path);

/// Collective. Writes values[i] of the owned node with original_ids[i] at that place of an int32 .npy file of
/// `num_nodes`: each rank receives and writes one block of the original ids, so that no rank holds all.
void write_predictions(const mpi::Communicator& communicator, const std::filesystem::path& path,
                       NodeId num_nodes, std::span<const NodeId> original_ids,
                       std::span<const std::int32_t> values);

}  // namespace halo::train
