#pragma once

#include <cstdint>
#include <type_traits>

#include "halo/base/ids.hpp"

namespace halo {

/// Non-owning row-major matrix: element (r, c) is data[r * stride + c], stride >= cols.
template <typename T>
struct MatrixView {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stride = 0;

  MatrixView() = default;
  MatrixView(T* data_, std::int64_t rows_, std::int64_t cols_) : MatrixView(data_, rows_, cols_, cols_) {}
  MatrixView(T* data_, std::int64_t rows_, std::int64_t cols_, std::int64_t stride_)
      : data(data_), rows(rows_), cols(cols_), stride(stride_) {}
  /// A view of non-const elements is also a view of const ones.
  template <typename U>
  requires(std::is_same_v<T, const U>)
      MatrixView(const MatrixView<U>& other)  // NOLINT(google-explicit-constructor): as std::span
      : MatrixView(other.data, other.rows, other.cols, other.stride) {}

  T* row(std::int64_t r) const { return data + r * stride; }
  T& operator()(std::int64_t r, std::int64_t c) const { return data[r * stride + c]; }
  MatrixView slice(RowRange range) const { return {row(range.begin), range.size(), cols, stride}; }
};

}  // namespace halo
