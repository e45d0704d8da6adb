#pragma once

#include <cstdint>
#include <span>

#include "halo/base/matrix_view.hpp"
#include "halo/mpi/communicator.hpp"

namespace halo::train {

/// Collective. Area under the ROC curve of the scores of all ranks: the share of pairs of a positive and a
/// negative in which the positive has the higher score, ties counted as halves (Hanley, McNeil 1982). Pairs
/// are counted as integers, so the result has the same bits for any number of ranks. `positive`: one for each
/// score, 0 or not. NaN where all ranks together have no positive or no negative. Error where a score is NaN.
///
/// Equal scores of a rank are counted first; the counts then go to the rank whose range of scores they are
/// in, ranges being cut so that every rank gets about as many. Memory is that of this rank's own scores.
double exact_auc(const mpi::Communicator& communicator, std::span<const float> scores,
                 std::span<const std::uint8_t> positive);

/// Collective. Mean of exact_auc over the columns of `scores` [rows x C], row r counting where use[r] != 0.
/// `positive`: [rows x C], 0 or not. Columns that lack positives or negatives are left out, as the evaluator
/// of ogbn-proteins does; NaN if all are. Error where a score that counts is NaN. All columns take the same
/// few exchanges.
double mean_column_auc(const mpi::Communicator& communicator, MatrixView<const float> scores,
                       MatrixView<const std::uint8_t> positive, std::span<const std::uint8_t> use);

}  // namespace halo::train
