#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "halo/datasets/npy.hpp"
#include "halo/datasets/partitioned_dataset.hpp"
#include "interrupt_guard.hpp"

namespace halo::partition {

/// A written file of a partitioned dataset with the checksum of each part's slice.
struct SlicedRecord {
  datasets::PartitionedFile file;  ///< checksum_row not set
  std::vector<std::uint64_t> checksums;
};

/// Where sliced files go, and what stops them.
struct SliceTarget {
  const std::filesystem::path& folder;
  const InterruptGuard& interrupt;
};

/// Writes one array part by part and sums up the bytes of each part's slice on the way.
class SlicedFile {
 public:
  SlicedFile(const SliceTarget& target, const std::string& name, const std::string& dtype,
             std::vector<std::int64_t> shape);

  /// Bytes of the current slice.
  template <typename T>
  void append(std::span<const T> values) {
    peek(values);
    writer_.write(values);
  }
  /// Bytes that belong to the current slice too, but which the next one writes.
  template <typename T>
  void peek(std::span<const T> values) {
    interrupt_.check();
    checksum_.update(values.data(), values.size_bytes());
  }
  void end_slice() { record_.checksums.push_back(checksum_.take()); }
  /// Flushes and renames the file; call once, after the last slice.
  SlicedRecord finish();

 private:
  std::filesystem::path path_;
  const InterruptGuard& interrupt_;
  datasets::NpyWriter writer_;
  datasets::ChecksumStream checksum_;
  SlicedRecord record_;
};

/// Elements that are converted or permuted at a time.
inline constexpr std::int64_t kSliceChunk = std::int64_t{1} << 18;

/// A one-dimensional file: element i is value_of(i), slice k is [bounds[k], bounds[k + 1]).
template <typename T, typename ValueOf>
SlicedRecord write_values(const SliceTarget& target, const std::string& name,
                          std::span<const std::int64_t> bounds, const ValueOf& value_of) {
  SlicedFile file(target, name, datasets::dtype_of<T>(), {bounds.back()});
  std::vector<T> chunk;
  for (std::size_t k = 0; k + 1 < bounds.size(); ++k) {
    for (std::int64_t begin = bounds[k]; begin < bounds[k + 1]; begin += kSliceChunk) {
      chunk.clear();
      const std::int64_t end = std::min(begin + kSliceChunk, bounds[k + 1]);
      for (std::int64_t i = begin; i < end; ++i)
        chunk.push_back(static_cast<T>(value_of(static_cast<std::size_t>(i))));
      file.append(std::span<const T>(chunk));
    }
    file.end_slice();
  }
  return file.finish();
}

/// A matrix file of `cols` columns: row i is row_of(i), slice k is the rows [bounds[k], bounds[k + 1]).
template <typename T, typename RowOf>
SlicedRecord write_rows_of(const SliceTarget& target, const std::string& name,
                           std::span<const std::int64_t> bounds, std::size_t cols, const RowOf& row_of) {
  SlicedFile file(target, name, datasets::dtype_of<T>(), {bounds.back(), static_cast<std::int64_t>(cols)});
  for (std::size_t k = 0; k + 1 < bounds.size(); ++k) {
    for (std::int64_t i = bounds[k]; i < bounds[k + 1]; ++i)
      file.append(std::span<const T>(row_of(static_cast<std::size_t>(i))));
    file.end_slice();
  }
  return file.finish();
}

}  // namespace halo::partition
