#include "halo/train/run_folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "halo/base/error.hpp"
#include "halo/datasets/atomic_file.hpp"
#include "halo/datasets/npy.hpp"

namespace halo::train {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* action, const fs::path& path) {
  throw Error(fmt::format("cannot {} {}: {}", action, path.string(), std::strerror(errno)));
}

}  // namespace

void check_run_path(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  if (fs::is_directory(path, ignored) && fs::is_empty(path, ignored)) return;
  throw InputError({.what = "the run folder is in use",
                    .where = "--out " + path.string(),
                    .found = fs::is_directory(path, ignored) ? "a folder that is not empty" : "a file",
                    .expected = "a new name or an empty folder",
                    .next = "choose another --out, or move the earlier run away"});
}

RunFolder::RunFolder(const fs::path& path, const nlohmann::json& config) : path_(path) {
  check_run_path(path);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    throw InputError({.what = "cannot create the run folder",
                      .where = "--out " + path.string(),
                      .found = error.message(),
                      .expected = "a place this user may write to",
                      .next = "choose another --out"});
  }
  datasets::write_text_file(path / "config.json", config.dump(2) + "\n");
  metrics_ = std::fopen((path / "metrics.jsonl").c_str(), "w");
  if (metrics_ == nullptr) fail("create", path / "metrics.jsonl");
}

RunFolder::~RunFolder() {
  if (metrics_ != nullptr) std::fclose(metrics_);  // every line has been flushed
}

void RunFolder::append_metrics(const nlohmann::ordered_json& line) {
  const std::string text = line.dump() + "\n";
  if (std::fwrite(text.data(), 1, text.size(), metrics_) != text.size() || std::fflush(metrics_) != 0) {
    fail("write", path_ / "metrics.jsonl");
  }
}

void RunFolder::write_summary(const nlohmann::json& summary) {
  datasets::write_text_file(path_ / "summary.json", summary.dump(2) + "\n");
}

void RunFolder::write_weights(const nn::Program& program, std::span<const float> parameters) {
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"format", "pt"}};
  for (const nn::Parameter& parameter : program.parameters) {
    const auto begin = parameter.offset * static_cast<std::int64_t>(sizeof(float));
    const auto end = begin + parameter.size() * static_cast<std::int64_t>(sizeof(float));
    nlohmann::json shape = {parameter.rows, parameter.cols};
    if (parameter.is_bias) shape = {parameter.cols};
    header[parameter.name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  datasets::AtomicFile file(path_ / "weights.safetensors");
  file.write(&length, sizeof(length));
  file.write(text.data(), text.size());
  file.write(parameters.data(), parameters.size_bytes());
  file.commit();
}

}  // namespace halo::train
