#include "halo/kernels/half_rows.hpp"

#include <cassert>

#include "row_loops.hpp"

namespace halo::kernels {

template <typename Real>
void pack_half(MatrixView<const Real> x, MatrixView<Real> packed) {
  assert(x.rows == packed.rows && packed.cols == half_cols(x.cols));
  internal::row_loops<Real>(vector_isa()).pack_half(x, packed);
}

template <typename Real>
void unpack_half(MatrixView<const Real> packed, MatrixView<Real> x) {
  assert(x.rows == packed.rows && packed.cols == half_cols(x.cols));
  internal::row_loops<Real>(vector_isa()).unpack_half(packed, x);
}

template void pack_half<float>(MatrixView<const float>, MatrixView<float>);
template void pack_half<double>(MatrixView<const double>, MatrixView<double>);
template void unpack_half<float>(MatrixView<const float>, MatrixView<float>);
template void unpack_half<double>(MatrixView<const double>, MatrixView<double>);

}  // namespace halo::kernels
