#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halo/base/ids.hpp"
#include "halo/datasets/byte_source.hpp"
#include "halo/datasets/npy.hpp"

namespace halo::datasets {

/// A NumPy array whose header has been read and whose length has been checked; elements are read on demand.
/// Cheap to copy.
class NpyArray {
 public:
  /// Reads the header. InputError if it is malformed or the source is not exactly as long as the header
  /// promises.
  explicit NpyArray(std::shared_ptr<const ByteSource> source);

  const NpyHeader& header() const { return header_; }
  const std::string& name() const { return source_->name(); }
  const std::vector<std::int64_t>& shape() const { return header_.shape; }

  /// Rows of the first axis in C order, converted to T as read_npy_rows does.
  template <typename T>
  void read_rows(RowRange rows, std::span<T> out) const;
  template <typename T>
  std::vector<T> read() const;

 private:
  std::shared_ptr<const ByteSource> source_;
  NpyHeader header_;
};

/// "[3, 4]"
std::string format_shape(std::span<const std::int64_t> shape);

}  // namespace halo::datasets
