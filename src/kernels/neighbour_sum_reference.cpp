#include "half.hpp"
#include "halo/kernels/neighbour_sum.hpp"

namespace halo::kernels {
namespace {

template <typename Real>
Real element(const NeighbourSum<Real>& sum, std::int64_t row, std::int64_t col) {
  using internal::Half;
  if (!sum.half) return sum.x(row, col);
  return Half<Real>::widen(reinterpret_cast<const typename Half<Real>::Stored*>(sum.x.row(row))[col]);
}

}  // namespace

template <typename Real>
void neighbour_sum_reference(const NeighbourSum<Real>& sum) {
  for (std::int64_t i = sum.rows.begin; i < sum.rows.end; ++i) {
    for (std::int64_t c = 0; c < sum.y.cols; ++c) {
      Real total = 0;
      for (EdgeId e = sum.indptr[i]; e < sum.indptr[i + 1]; ++e) {
        const Real value = element(sum, sum.columns[e], c);
        total += sum.weights != nullptr ? static_cast<Real>(sum.weights[e]) * value : value;
      }
      if (sum.self != nullptr) total += sum.self[i] * element(sum, i, c);
      if (sum.scale != nullptr) total *= sum.scale[i];
      sum.y(i, c) = total;
    }
  }
}

template void neighbour_sum_reference<float>(const NeighbourSum<float>&);
template void neighbour_sum_reference<double>(const NeighbourSum<double>&);

}  // namespace halo::kernels
