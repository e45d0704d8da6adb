#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "halo/train/option_record.hpp"

namespace halo::train {

// A run folder holds config.toml and config.json (the options, from its first moment on), metrics.jsonl (a
// line per epoch), checkpoints/, initial/ (the weights of --initial-weights), weights.safetensors,
// predictions.npy and, last, summary.json: with it the run is finished. For rank 0 alone.

/// InputError if a new run cannot go to `path`; touches nothing.
void check_run_path(const std::filesystem::path& path);
/// Creates the folder with the options in it. InputError as check_run_path().
void create_run_folder(const std::filesystem::path& path, const OptionRecord& record);
/// Gives the run other options; it is not finished any more.
void renew_run_folder(const std::filesystem::path& path, const OptionRecord& record);

/// Whether there is a run.
bool has_run(const std::filesystem::path& path);
/// The options of the run, as in its config.json. InputError if there is no run.
nlohmann::json stored_options(const std::filesystem::path& path);
/// The summary of the run; null if it is not finished.
nlohmann::json stored_summary(const std::filesystem::path& path);
void write_summary(const std::filesystem::path& path, const nlohmann::json& summary);

/// metrics.jsonl of a run: a line per epoch, handed to the system at once.
class MetricsFile {
 public:
  /// Continues the file behind its first `bytes` and drops the rest. InputError if it is shorter.
  MetricsFile(const std::filesystem::path& run_folder, std::int64_t bytes);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  void append(const nlohmann::ordered_json& line);
  /// All lines, oldest first.
  std::vector<nlohmann::json> lines() const;
  /// Makes the lines durable; returns the length of the file.
  std::int64_t sync();

 private:
  std::filesystem::path path_;
  std::FILE* file_ = nullptr;
};

}  // namespace halo::train
