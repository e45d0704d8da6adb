#pragma once

#include <vector>

#include "halo/dist/halo_gather.hpp"
#include "halo/dist/halo_plan.hpp"
#include "halo/graph/local_graph.hpp"

namespace halo::mpi {
class Communicator;
}

namespace halo::dist {

/// Seconds of a gather and the work beside it, of the slowest rank.
struct TransportTime {
  Transport transport = Transport::kNonblocking;
  double seconds = 0.0;
};

/// Collective. Tries every transport that this MPI library has on a plan, as an epoch uses it: a gather of a
/// few columns is started, the rank is busy for as long as a gather takes times its share of rows that need no
/// halo, letting MPI make progress now and then, and waits. Fastest first, the same on every rank; the best of
/// several rounds each.
std::vector<TransportTime> measure_transports(const mpi::Communicator& communicator, const HaloPlan& plan,
                                              const graph::LocalGraph& graph);

}  // namespace halo::dist
