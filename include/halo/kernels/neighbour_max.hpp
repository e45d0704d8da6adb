#pragma once

#include "halo/base/ids.hpp"
#include "halo/base/matrix_view.hpp"

namespace halo::kernels {

// Largest neighbour per column (Hamilton et al. 2017, max pooling) and its gradient in pull form, shared
// evenly among the neighbours that are largest together (an edge that occurs twice takes two shares).

/// Edges a pass runs over.
struct NeighbourEdges {
  const EdgeId* indptr = nullptr;  ///< indptr[r], indptr[r + 1] for r in rows
  const LocalId* columns = nullptr;
  RowRange rows;
};

/// Over N(i): y_i,c = max_{j in N(i)} x_j,c; 0 without neighbours; NaN if one of them is NaN. x with its halo
/// rows.
template <typename Real>
void neighbour_max(const NeighbourEdges& in, MatrixView<const Real> x, MatrixView<Real> y);

/// Over N(i): shares_i = [y_i | dy_i,c / #{j in N(i): x_j,c = y_i,c}], 0 where there is none. x with its halo
/// rows.
template <typename Real>
void neighbour_max_share(const NeighbourEdges& in, MatrixView<const Real> x, MatrixView<const Real> y,
                         MatrixView<const Real> dy, MatrixView<Real> shares);

/// Over M(j): dx_j,c = sum of share_i,c over the i in M(j) with y_i,c = x_j,c, in the order of the row.
/// shares with the halo rows of this direction.
template <typename Real>
void neighbour_max_gradient(const NeighbourEdges& out, MatrixView<const Real> shares,
                            MatrixView<const Real> x, MatrixView<Real> dx);

}  // namespace halo::kernels
