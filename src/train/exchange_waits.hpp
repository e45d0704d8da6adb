#pragma once

#include <cstdint>
#include <span>

#include "halo/mpi/communicator.hpp"
#include "run_trace.hpp"

namespace halo::train {

/// The rank that the others waited for most.
struct LateRank {
  Rank rank = -1;              ///< -1: nobody waited for anybody
  std::int64_t exchanges = 0;  ///< gathers and allreduces that this rank came to last
  double seconds = 0.0;        ///< that the other ranks waited for it, mean over them
};

/// Collective. Of the gathers and allreduces among `events`, which every rank goes through in the same order.
/// A rank comes to a gather when it posts its rows. It waits for the last one for as long as it waits while
/// that one has not come: what it waits for longer is the network's.
LateRank find_late_rank(const mpi::Communicator& communicator, const RunTrace& trace,
                        std::span<const TraceEvent> events);

}  // namespace halo::train
