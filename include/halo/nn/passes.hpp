#pragma once

#include <vector>

#include "halo/nn/program.hpp"

namespace halo::nn {

// Passes over the operation list. Each takes a program and returns the rewritten one; values keep their ids.
// train_program() and evaluation_program() apply them in order.

/// Evaluation: dropout is the identity.
Program remove_dropout(const Program& program);

/// Evaluation: batch norm takes its running values.
Program use_running_statistics(const Program& program);

/// Puts the product before the aggregation or after it, whichever moves fewer columns: A (x W) = (A x) W.
/// Columns are counted over forward and backward; a constant x is aggregated once, so that order is free,
/// unless it keeps more than kFoldedColumnsLimit times the columns it saves.
Program order_products(const Program& program);
inline constexpr std::int64_t kFoldedColumnsLimit = 4;

/// Aggregate -> ScaleRows, NeighbourSum.
Program lower_aggregations(const Program& program);

/// relu followed by dropout -> one operation whose gradient needs its output only.
Program fuse_relu_dropout(const Program& program);

/// Appends the loss and the gradients of everything the parameters need (and nothing else), as operations.
Program differentiate(const Program& program);

/// NeighbourSum followed by ScaleRows -> one operation.
Program merge_row_factors(const Program& program);

/// a + (x W) -> product with addend.
Program fuse_additions(const Program& program);

/// Drops operations whose results nobody uses.
Program drop_unused(const Program& program);

/// For each value: true if it depends on constants only (no parameter, no random number).
std::vector<bool> constant_values(const Program& program);

/// Forward, loss and backward of a model, all passes applied.
Program train_program(const Program& model);
/// Forward of a model up to one of its values, which becomes the program's output; all passes applied.
Program inference_program(const Program& model, ValueId output);
/// Forward of a model and its score, all passes applied.
Program evaluation_program(const Program& model);

}  // namespace halo::nn
