#pragma once

#include <cstdint>

#include "halo/nn/schedule.hpp"

namespace halo::nn {

/// Gives every value of the epoch's stages a slot by liveness; fills placements and slot_elements.
void place_in_slots(Schedule& schedule, std::int64_t owned_rows);

}  // namespace halo::nn
