#pragma once

#include <cstdint>
#include <span>

#include "halo/mpi/communicator.hpp"

namespace halo::train {

/// Steady clocks of two hosts start anywhere: what to add to this rank's to get rank 0's, in nanoseconds, and
/// how far that may be off.
struct ClockOffset {
  std::int64_t offset = 0;
  std::int64_t error = 0;
};

/// When a rank came to a barrier and when it left, by its own clock.
struct Passage {
  std::int64_t entered = 0;
  std::int64_t left = 0;
};

/// From barriers that both ranks passed. No rank leaves one before every rank has entered it, so each gives a
/// lower and an upper bound. 0 if the bounds allow it (ranks of one host share a clock), else their middle.
ClockOffset clock_offset(std::span<const Passage> own, std::span<const Passage> reference);

/// Collective. By a few barriers; drift from then on is not corrected.
ClockOffset measure_clock_offset(const mpi::Communicator& communicator);

}  // namespace halo::train
