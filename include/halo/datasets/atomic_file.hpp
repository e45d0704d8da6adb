#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace halo::datasets {

/// A file that appears under its name only when it is whole: written under a temporary name beside `path`,
/// then flushed, fsynced and renamed by commit(). Destroyed before that, it removes the temporary file.
/// Errors carry the path and the system's reason.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, std::size_t bytes);
  void commit();
  const std::filesystem::path& path() const { return path_; }

 private:
  void write_through(const char* data, std::size_t bytes);
  void flush();
  [[noreturn]] void fail(const char* action) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::vector<char> buffer_;
  int descriptor_ = -1;
};

}  // namespace halo::datasets
