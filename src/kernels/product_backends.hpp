#pragma once

#include "halo/base/matrix_view.hpp"

namespace halo::kernels::internal {

/// Which operand of a product is read transposed: y = x w, y = x w^T, y = x^T w.
enum class Transposed { kNone, kRight, kLeft };

/// Rows of the sum or of y that one LIBXSMM kernel takes. A fixed cut bounds the number of kernels that tiles
/// of many sizes ask for, and keeps what a kernel touches in the L2 cache.
inline constexpr std::int64_t kChunkRows = 192;

/// y (+)= x w by LIBXSMM; false, with nothing written, where it has no kernel for this shape. No dimension
/// may be 0.
template <typename Real>
bool xsmm_product(Transposed transposed, MatrixView<const Real> x, MatrixView<const Real> w,
                  MatrixView<Real> y, bool accumulate);

/// Instruction set LIBXSMM makes kernels for ("avx512"), or nullptr if this build or CPU has none.
const char* xsmm_target();

/// The plain twin of xsmm_product and the fallback. No dimension may be 0.
template <typename Real>
void eigen_product(Transposed transposed, MatrixView<const Real> x, MatrixView<const Real> w,
                   MatrixView<Real> y, bool accumulate);

}  // namespace halo::kernels::internal
