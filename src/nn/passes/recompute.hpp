#pragma once

#include "halo/nn/program.hpp"

namespace halo::nn {

/// Values that a later stage reads and that cost less to make there, tile by tile, than to keep: results of
/// operations with kCheap whose inputs are kept until that stage anyway, and what ScaleRows has multiplied for
/// a gather. Their operations are done again in each such stage.
Program recompute_cheap_values(const Program& program, bool symmetric);

}  // namespace halo::nn
