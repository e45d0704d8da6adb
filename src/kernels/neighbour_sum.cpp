#include "halo/kernels/neighbour_sum.hpp"

namespace halo::kernels {

template <typename Real>
void neighbour_sum(const NeighbourSum<Real>& sum) {
  neighbour_sum_reference(sum);
}

template void neighbour_sum<float>(const NeighbourSum<float>&);
template void neighbour_sum<double>(const NeighbourSum<double>&);

}  // namespace halo::kernels
