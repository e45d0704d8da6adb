#pragma once

#include <filesystem>

namespace halo::datasets {

/// A folder that appears under its name only when it is whole: files go into path(), a sibling with a
/// temporary name, and commit() renames it. Destroyed before that, it removes the sibling and what is in it.
class StagedFolder {
 public:
  /// InputError if `target` is there and is not an empty folder, or its parent is not there.
  explicit StagedFolder(const std::filesystem::path& target);
  ~StagedFolder();
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;

  const std::filesystem::path& path() const { return staging_; }
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path staging_;
};

}  // namespace halo::datasets
