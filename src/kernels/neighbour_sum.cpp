#include "halo/kernels/neighbour_sum.hpp"

#include <cassert>

#include "halo/kernels/half_rows.hpp"
#include "neighbour_sum_isa.hpp"

namespace halo::kernels {

template <typename Real>
void internal::neighbour_sum_with(VectorIsa isa, const NeighbourSum<Real>& sum) {
  assert(sum.x.cols == (sum.half ? half_cols(sum.y.cols) : sum.y.cols) && sum.rows.end <= sum.y.rows);
  if (sum.rows.empty()) return;
#if defined(__x86_64__)
  if (isa == VectorIsa::kAvx512) return neighbour_sum_avx512(sum);
  if (isa == VectorIsa::kAvx2) return neighbour_sum_avx2(sum);
#endif
  neighbour_sum_portable(sum);
}

template <typename Real>
void neighbour_sum(const NeighbourSum<Real>& sum) {
  internal::neighbour_sum_with(vector_isa(), sum);
}

template void internal::neighbour_sum_with<float>(VectorIsa, const NeighbourSum<float>&);
template void internal::neighbour_sum_with<double>(VectorIsa, const NeighbourSum<double>&);
template void neighbour_sum<float>(const NeighbourSum<float>&);
template void neighbour_sum<double>(const NeighbourSum<double>&);

}  // namespace halo::kernels
