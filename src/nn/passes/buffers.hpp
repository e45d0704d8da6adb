#pragma once

#include "halo/nn/schedule.hpp"

namespace halo::nn {

/// Places every value of the epoch's stages by liveness; fills placements, arena_elements and
/// scratch_elements.
void place_in_buffers(Schedule& schedule, const RowCounts& rows);

}  // namespace halo::nn
