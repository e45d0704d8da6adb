#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "halo/mpi/communicator.hpp"

namespace halo::train {

/// A file that all ranks write together, each its own bytes: under a temporary name until commit() renames
/// it. Destroyed before that, the temporary file is removed. Errors carry the path and the system's reason
/// (full disk ...), the same on every rank.
class SharedFile {
 public:
  /// Collective. Rank 0 creates the file.
  SharedFile(const mpi::Communicator& communicator, const std::filesystem::path& path);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  /// Local; inside Communicator::agree.
  void write(const void* data, std::size_t bytes, std::int64_t offset);
  /// Collective. Flushes what every rank has written, then renames.
  void commit();

 private:
  void open(int flags);
  [[noreturn]] void fail(const char* action) const;

  const mpi::Communicator& communicator_;
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  bool committed_ = false;
};

}  // namespace halo::train
