#pragma once

#include <cstdint>

#include "halo/base/matrix_view.hpp"

namespace halo::kernels {

// Rows stored at half width, two numbers in the place of one: float as bfloat16 (the upper 16 bits), double
// as float. Rounded to the nearest, ties to even; NaN stays NaN, what is too large becomes infinite. A row of
// an odd number of columns ends with a zero.

/// Columns that hold `cols` numbers of half width.
constexpr std::int64_t half_cols(std::int64_t cols) {
  return (cols + 1) / 2;
}

/// x: [t x d]   packed: [t x half_cols(d)], other memory
template <typename Real>
void pack_half(MatrixView<const Real> x, MatrixView<Real> packed);
/// The other way; exact.
template <typename Real>
void unpack_half(MatrixView<const Real> packed, MatrixView<Real> x);

}  // namespace halo::kernels
