#include "halo/train/run_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "halo/base/error.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/datasets/staged_folder.hpp"

namespace halo::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.json";
constexpr const char* kMetrics = "metrics.jsonl";
constexpr const char* kSummary = "summary.json";

[[noreturn]] void fail(const char* action, const fs::path& path) {
  throw Error(fmt::format("cannot {} {}: {}", action, path.string(), std::strerror(errno)));
}

/// Null if the file is not there or not JSON.
nlohmann::json read_json(const fs::path& path) {
  std::ifstream file(path);
  auto json = nlohmann::json::parse(file, nullptr, false);
  return json.is_discarded() ? nlohmann::json(nullptr) : json;
}

void write_options(const fs::path& folder, const OptionRecord& record) {
  datasets::write_text_file(folder / "config.toml", record.to_toml());
  datasets::write_text_file(folder / kConfig, record.to_json().dump(2) + "\n");
}

}  // namespace

void check_run_path(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  if (fs::is_directory(path, ignored) && fs::is_empty(path, ignored)) return;
  const bool run = fs::exists(path / kConfig, ignored);
  throw InputError(
      {.what = "the run folder is in use",
       .where = "--out " + path.string(),
       .found = run                               ? "an earlier run"
                : fs::is_directory(path, ignored) ? "a folder that is not empty"
                                                  : "a file",
       .expected = "a new name or an empty folder",
       .next = run ? fmt::format("continue that run with --resume {}, or choose another --out", path.string())
                   : "choose another --out, or move the earlier run away"});
}

void create_run_folder(const fs::path& path, const OptionRecord& record) {
  check_run_path(path);
  std::error_code error;
  fs::create_directories(fs::absolute(path).parent_path(), error);
  if (error) {
    throw InputError({.what = "cannot create the run folder",
                      .where = "--out " + path.string(),
                      .found = error.message(),
                      .expected = "a place this user may write to",
                      .next = "choose another --out"});
  }
  datasets::StagedFolder staged(path);
  write_options(staged.path(), record);
  staged.commit();
}

void renew_run_folder(const fs::path& path, const OptionRecord& record) {
  fs::remove(path / kSummary);
  write_options(path, record);
}

bool has_run(const fs::path& path) {
  return fs::exists(path / kConfig);
}

nlohmann::json stored_options(const fs::path& path) {
  const auto options = read_json(path / kConfig);
  if (options.is_object()) return options;
  throw InputError({.what = "there is no run to continue",
                    .where = "--resume " + path.string(),
                    .found = fmt::format("no {} that can be read", kConfig),
                    .expected = "the run folder of an earlier run",
                    .next = "correct the path, or start a run with --out"});
}

nlohmann::json stored_summary(const fs::path& path) {
  return read_json(path / kSummary);
}

void write_summary(const fs::path& path, const nlohmann::json& summary) {
  datasets::write_text_file(path / kSummary, summary.dump(2) + "\n");
}

MetricsFile::MetricsFile(const fs::path& run_folder, std::int64_t bytes) : path_(run_folder / kMetrics) {
  std::error_code missing;
  const auto present = fs::file_size(path_, missing);
  if ((missing ? 0 : static_cast<std::int64_t>(present)) < bytes) {
    throw InputError({.what = "metrics.jsonl does not belong to the checkpoint",
                      .where = path_.string(),
                      .found = missing ? "no such file" : fmt::format("{} bytes", present),
                      .expected = fmt::format("at least the {} bytes it had then", bytes),
                      .next = "put the file back, or start a new run with another --out"});
  }
  if (!missing) fs::resize_file(path_, static_cast<std::uintmax_t>(bytes));
  file_ = std::fopen(path_.c_str(), "a");
  if (file_ == nullptr) fail("open", path_);
}

MetricsFile::~MetricsFile() {
  std::fclose(file_);  // every line has been flushed
}

void MetricsFile::append(const nlohmann::ordered_json& line) {
  const std::string text = line.dump() + "\n";
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() || std::fflush(file_) != 0) {
    fail("write", path_);
  }
}

std::vector<nlohmann::json> MetricsFile::lines() const {
  std::vector<nlohmann::json> lines;
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

std::int64_t MetricsFile::sync() {
  if (std::fflush(file_) != 0 || ::fsync(::fileno(file_)) != 0) fail("flush", path_);
  return static_cast<std::int64_t>(fs::file_size(path_));
}

}  // namespace halo::train
