#pragma once

#include "halo/base/ids.hpp"
#include "halo/base/matrix_view.hpp"

namespace halo::kernels {

/// y_i = scale_i (sum_{e in row i} w_e x_{columns[e]} + self_i x_i) for i in rows; terms are added in the
/// order of the row, loop term last, so the result depends on nothing but the row.
///   x: [owned + halo x d], y: [owned x d] (must not overlap x)
template <typename Real>
struct NeighbourSum {
  const EdgeId* indptr = nullptr;  ///< indptr[i], indptr[i + 1] for i in rows
  const LocalId* columns = nullptr;
  const float* weights = nullptr;  ///< per edge; nullptr: 1
  const Real* self = nullptr;      ///< per row; nullptr: no loop term
  const Real* scale = nullptr;     ///< per row; nullptr: 1
  MatrixView<const Real> x;
  MatrixView<Real> y;
  RowRange rows;
  bool half = false;  ///< x holds numbers of half width (half_rows.hpp): [owned + halo x half_cols(d)]
};

/// Picks the vector code of this CPU (halo::vector_isa()) at run time. An empty row gives zeros (plus the
/// loop term).
template <typename Real>
void neighbour_sum(const NeighbourSum<Real>& sum);

/// The slow obvious twin, for tests.
template <typename Real>
void neighbour_sum_reference(const NeighbourSum<Real>& sum);

}  // namespace halo::kernels
