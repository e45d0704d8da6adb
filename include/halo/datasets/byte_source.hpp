#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halo::datasets {

/// Bytes that can be read at any offset, by any thread: a file, or an array taken out of an archive.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `out` with the bytes from `offset` on. InputError if the source ends before that, Error if it
  /// cannot be read.
  virtual void read(std::int64_t offset, std::span<std::byte> out) const = 0;
  virtual std::int64_t size() const = 0;
  /// What errors call it: a path, or "data.npz:labels.npy".
  virtual const std::string& name() const = 0;
};

/// A file, read with pread(2). InputError if it cannot be opened or is no regular file.
std::shared_ptr<const ByteSource> open_file(const std::filesystem::path& path);
/// Bytes in memory under a name.
std::shared_ptr<const ByteSource> hold_bytes(std::vector<std::byte> bytes, std::string name);

}  // namespace halo::datasets
