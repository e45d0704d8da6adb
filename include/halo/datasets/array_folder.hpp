#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "halo/datasets/npy_array.hpp"

namespace halo::datasets {

/// Arrays by key: `<key>.npy` in a folder or in a .npz archive.
class ArrayFolder {
 public:
  virtual ~ArrayFolder() = default;
  /// Bytes of one file by its whole name; null if there is none.
  virtual std::shared_ptr<const ByteSource> find_file(const std::string& name) const = 0;
  virtual bool has_file(const std::string& name) const = 0;
  virtual const std::filesystem::path& path() const = 0;

  bool has(const std::string& key) const { return has_file(key + ".npy"); }
  std::optional<NpyArray> find(const std::string& key) const;
  /// InputError if there is no such array.
  NpyArray get(const std::string& key) const;
};

/// A folder of .npy files, a .npz file, or a folder without edge_index.npy that holds one .npz. InputError if
/// `path` is none of these.
std::shared_ptr<const ArrayFolder> open_arrays(const std::filesystem::path& path);

/// A .npz file (a zip archive, members stored or deflated). A member is taken into memory when asked for.
std::shared_ptr<const ArrayFolder> open_npz(const std::filesystem::path& path);

}  // namespace halo::datasets
