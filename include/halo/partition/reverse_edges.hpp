#pragma once

#include "halo/graph/csr.hpp"

namespace halo::partition {

/// The graph with the reverse of every edge that lacks it: i -> j comes max(times i -> j, times j -> i) times
/// in both directions, so a symmetric graph stays as it is. InputError where the edges i -> j and j -> i both
/// exist but weigh differently: there is no right choice between them.
graph::Csr add_reverse_edges(const graph::Csr& graph);

}  // namespace halo::partition
