#pragma once

#include <span>
#include <vector>

#include "halo/base/buffer.hpp"
#include "halo/base/ids.hpp"
#include "halo/base/matrix_view.hpp"
#include "halo/nn/operations.hpp"

namespace halo::train {

/// Rows whose neighbours are rows of a matrix.
struct EdgeRows {
  std::span<const EdgeId> indptr;
  std::span<const LocalId> columns;
  std::int64_t matrix_rows = 0;
};

/// The kernel of an operation that looks at edges, on matrices of small numbers: to be measured, its result
/// means nothing.
class EdgePass {
 public:
  /// `cols`: of the value that the operation gathers. The rows stay the caller's.
  EdgePass(const EdgeRows& edges, const nn::Kind& kind, std::int64_t cols);

  void run(RowRange rows) const;

 private:
  EdgeRows edges_;
  nn::Kind kind_;
  Buffer<float> gathered_;
  MatrixView<float> x_;  ///< [matrix_rows x cols]
  std::vector<Buffer<float>> buffers_;
  std::vector<MatrixView<float>> others_;  ///< a row for each row of the sum, the result last
  std::vector<NodeId> ids_;
  std::vector<float> loops_;
  std::vector<float> att_;
};

}  // namespace halo::train
