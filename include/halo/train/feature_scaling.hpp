#pragma once

#include "halo/base/matrix_view.hpp"
#include "halo/graph/local_graph.hpp"
#include "halo/mpi/communicator.hpp"

namespace halo::train {

/// What is done to the features before anything else.
enum class FeatureScaling {
  kNone,
  kRowsL1,       ///< each row divided by the sum of its absolute values
  kRowsL2,       ///< each row divided by its length
  kStandardise,  ///< each column to mean 0 and deviation 1 over all nodes of all ranks
};

/// InputError if more than one is wanted (--row-normalise, --row-normalise-l2, --standardise).
FeatureScaling choose_scaling(bool rows_l1, bool rows_l2, bool standardise);

/// Collective. Scales this rank's `features` [owned x F] in place. Rows of zeros stay so; columns with one
/// value become zeros. The deviation is that of the whole population (divided by the number of nodes). Sums
/// over nodes are exact sums over the dataset's tile groups, so the bits are the same for any number of
/// ranks.
void scale_features(const mpi::Communicator& communicator, const graph::LocalGraph& graph,
                    FeatureScaling scaling, MatrixView<float> features);

}  // namespace halo::train
