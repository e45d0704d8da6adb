#pragma once

#include <filesystem>
#include <memory>

namespace halo::partition {

/// A folder that appears under its name only when it is whole: files go into a temporary folder beside it,
/// which commit() renames. Destroyed before that, it leaves nothing behind.
class OutputFolder {
 public:
  /// InputError if `path` exists and is not an empty folder, or the folder it shall stand in does not exist.
  static void check(const std::filesystem::path& path);

  /// Checks, then makes the temporary folder.
  explicit OutputFolder(const std::filesystem::path& path);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// Where to write until commit().
  const std::filesystem::path& path() const { return temporary_; }
  void commit();

 private:
  std::filesystem::path final_;
  std::filesystem::path temporary_;
};

/// While one of these lives, SIGINT, SIGTERM and SIGHUP no longer end the process but make check() throw, so
/// that what was begun is cleaned up. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Error if a signal came since the guard was made.
  void check() const;

 private:
  struct Handlers;
  std::unique_ptr<Handlers> before_;
};

}  // namespace halo::partition
