#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "halo/datasets/npy.hpp"
#include "temporary_folder.hpp"

namespace halo::datasets {

using Shape = std::vector<std::int64_t>;

template <typename T>
void write_array(const std::filesystem::path& path, const std::vector<T>& values, const Shape& shape) {
  write_npy<T>(path, values, shape);
}

/// A folder with four nodes on the directed path 0 -> 1 -> 2 -> 3, two feature columns, labels 0 1 1 unknown,
/// and train 0, val 1, test 2. Tests replace one file each.
class SmallDataset {
 public:
  SmallDataset() {
    write<std::int64_t>("edge_index", {0, 1, 2, 1, 2, 3}, {2, 3});
    write<float>("features", {0, 1, 2, 3, 4, 5, 6, 7}, {4, 2});
    write<std::int64_t>("labels", {0, 1, 1, -1}, {4});
    write<std::int64_t>("train_idx", {0}, {1});
    write<std::int64_t>("val_idx", {1}, {1});
    write<std::int64_t>("test_idx", {2}, {1});
  }
  template <typename T>
  void write(const std::string& key, const std::vector<T>& values, const Shape& shape) {
    write_array<T>(folder_ / (key + ".npy"), values, shape);
  }
  void write_description(const std::string& json) { write_bytes(folder_ / "dataset.json", json); }
  void remove(const std::string& key) { std::filesystem::remove(folder_ / (key + ".npy")); }
  void remove_splits() {
    for (const char* key : {"train_idx", "val_idx", "test_idx"}) remove(key);
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace halo::datasets
