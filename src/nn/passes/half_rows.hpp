#pragma once

#include "halo/nn/program.hpp"

namespace halo::nn {

/// Values that outlive their stage are stored at half width: packed where they are made, unpacked tile by
/// tile in each later stage that reads them, gathered and summed over neighbours packed. Constants, the
/// output, and what attention, maxima or an operation that begins a stage reads stay whole.
Program store_half_rows(const Program& program, bool symmetric);

}  // namespace halo::nn
