#include "halo/train/checkpoint.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "checkpoint_arrays.hpp"
#include "halo/base/error.hpp"
#include "halo/base/log.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/datasets/partitioned_dataset.hpp"

namespace halo::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "halognn-checkpoint";
constexpr int kFormatVersion = 1;
constexpr const char* kPrefix = "epoch-";

std::string name_of(std::int64_t epoch) {
  return fmt::format("{}{:06}", kPrefix, epoch);
}

/// Of a checkpoint's folder name; 0 for any other name.
std::int64_t epoch_of(const std::string& name) {
  const std::string prefix = kPrefix;
  if (!name.starts_with(prefix)) return 0;
  std::int64_t epoch = 0;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + prefix.size(), end, epoch);
  return parsed.ec == std::errc() && parsed.ptr == end ? epoch : 0;
}

/// Makes names in a folder durable; a file system that cannot do that is not an error.
void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

std::string checksum_of(const nlohmann::json& document) {
  const std::string text = document.dump();
  return checksum_text(datasets::slice_checksum(text.data(), text.size()));
}

void write_state(const fs::path& folder, const nlohmann::json& state, const nlohmann::json& files) {
  nlohmann::json document = {
      {"format", kFormat}, {"format_version", kFormatVersion}, {"state", state}, {"files", files}};
  const std::string checksum = checksum_of(document);
  document["checksum"] = checksum;
  datasets::write_text_file(folder / "state.json", document.dump(2) + "\n");
}

/// The text of a state.json that is whole. Error if it is not.
std::string read_checked(const fs::path& path) {
  std::ifstream file(path);
  if (!file) throw Error(fmt::format("{} is missing", path.string()));
  std::stringstream text;
  text << file.rdbuf();
  auto document = nlohmann::json::parse(text.str(), nullptr, false);
  if (!document.is_object() || !document.contains("checksum")) {
    throw Error(fmt::format("{} is damaged: it is cut or not JSON", path.string()));
  }
  const nlohmann::json checksum = document["checksum"];
  document.erase("checksum");
  if (checksum != checksum_of(document)) {
    throw Error(fmt::format("{} is damaged: its checksum is another", path.string()));
  }
  if (document.value("format", "") != kFormat || document.value("format_version", 0) != kFormatVersion) {
    throw Error(fmt::format("{} is of another format or version", path.string()));
  }
  return document.dump();
}

}  // namespace

CheckpointFolder::CheckpointFolder(const mpi::Communicator& communicator, fs::path path, NodeSlice slice)
    : communicator_(communicator), path_(std::move(path)), slice_(slice) {}

fs::path CheckpointFolder::path_of(std::int64_t epoch) const {
  return path_ / name_of(epoch);
}

/// Runs work that ends in an agreement; what it throws on all ranks alike becomes text, but for InputError.
std::string CheckpointFolder::failure_of(const std::function<void()>& work) const {
  try {
    work();
    return "";
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    if (!mpi::is_agreed(error)) throw;
    return error.what();
  }
}

std::string CheckpointFolder::write(std::int64_t epoch, const nlohmann::json& state,
                                    const CheckpointArrays& arrays, std::int64_t keep) const {
  const bool leads = communicator_.rank() == 0;
  const fs::path temporary = path_ / fmt::format(".{}.tmp", name_of(epoch));
  const std::string failure = failure_of([&] {
    communicator_.agree([&] {
      if (!leads) return;
      fs::remove_all(temporary);
      fs::create_directories(temporary);
    });
    const nlohmann::json files = write_arrays(communicator_, temporary, arrays, slice_);
    communicator_.agree([&] {
      if (!leads) return;
      write_state(temporary, state, files);
      sync_folder(temporary);
      fs::remove_all(path_of(epoch));  // a damaged one
      fs::rename(temporary, path_of(epoch));
      sync_folder(path_);
    });
  });
  if (leads) {
    std::error_code ignored;  // the room may be needed, and the next checkpoint tries again
    if (!failure.empty()) fs::remove_all(temporary, ignored);
    if (failure.empty()) prune(epoch, keep);
  }
  return failure;
}

/// Rank 0. What cannot be removed stays.
void CheckpointFolder::prune(std::int64_t epoch, std::int64_t keep) const {
  std::vector<std::int64_t> present;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path_, ignored)) {
    const std::string name = entry.path().filename().string();
    if (const std::int64_t found = epoch_of(name); found > 0) present.push_back(found);
    if (name.starts_with(".epoch-")) fs::remove_all(entry.path(), ignored);  // of a run that was killed
  }
  std::sort(present.rbegin(), present.rend());
  std::int64_t kept = 0;
  for (const std::int64_t found : present) {
    if (found > epoch || kept == keep) {
      fs::remove_all(path_of(found), ignored);
    } else {
      ++kept;
    }
  }
}

std::vector<std::int64_t> CheckpointFolder::epochs() const {
  nlohmann::json found = nlohmann::json::array();
  if (communicator_.rank() == 0) {
    std::error_code ignored;  // no folder: none
    for (const auto& entry : fs::directory_iterator(path_, ignored)) {
      if (const std::int64_t epoch = epoch_of(entry.path().filename().string()); epoch > 0) {
        found.push_back(epoch);
      }
    }
  }
  const std::string text = communicator_.broadcast(found.dump(), 0);
  auto epochs = nlohmann::json::parse(text).get<std::vector<std::int64_t>>();
  std::sort(epochs.rbegin(), epochs.rend());
  return epochs;
}

nlohmann::json CheckpointFolder::read_state(std::int64_t epoch) const {
  std::string text;
  communicator_.agree([&] {
    if (communicator_.rank() == 0) text = read_checked(path_of(epoch) / "state.json");
  });
  return nlohmann::json::parse(communicator_.broadcast(text, 0));
}

nlohmann::json CheckpointFolder::read_newest(
    const std::function<CheckpointArrays(const nlohmann::json& state)>& arrays_for) const {
  for (const std::int64_t epoch : epochs()) {
    nlohmann::json document;
    const std::string failure = failure_of([&] {
      document = read_state(epoch);
      CheckpointArrays arrays;
      communicator_.agree([&] { arrays = arrays_for(document["state"]); });
      read_arrays(communicator_, path_of(epoch), document["files"], arrays, slice_);
    });
    if (failure.empty()) {
      if (communicator_.rank() == 0) spdlog::info("resuming from {}", path_of(epoch).string());
      return document["state"];
    }
    if (communicator_.rank() == 0) {
      spdlog::warn("the checkpoint of epoch {} cannot be used, trying the one before: {}", epoch, failure);
    }
  }
  return nullptr;
}

}  // namespace halo::train
