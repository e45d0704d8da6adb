#pragma once

#include "halo/nn/schedule.hpp"

namespace halo::nn {

/// Which rows an epoch of training needs of each operation and value; fills `rows` and `nonzero`.
void find_row_levels(Schedule& schedule);

}  // namespace halo::nn
