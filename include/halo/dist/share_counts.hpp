#pragma once

#include "halo/dist/load_partition.hpp"
#include "halo/graph/share_counts.hpp"

namespace halo::dist {

/// Local. Counts of a loaded share; `training`: the graph that is trained on, with its levels if they are
/// known.
graph::ShareCounts count_share(const LocalPartition& partition, const graph::LocalGraph& training);

}  // namespace halo::dist
