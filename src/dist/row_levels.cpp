#include "halo/dist/row_levels.hpp"

#include "halo/graph/row_levels.hpp"
#include "halo_values.hpp"

namespace halo::dist {

void mark_row_levels(const mpi::Communicator& communicator, const LocalPartition& partition,
                     std::span<const std::uint8_t> starts, graph::LocalGraph& graph) {
  const auto fetch = [&](graph::LocalGraph& marked) {
    const std::vector<std::int64_t> owned(marked.level.begin(), marked.level.end());
    const auto in = halo_values(communicator, partition.in_plan, owned);
    marked.in.halo_level.assign(in.begin(), in.end());
    if (marked.symmetric) return;
    const auto out = halo_values(communicator, partition.out_plan, owned);
    marked.out_if_directed.halo_level.assign(out.begin(), out.end());
  };
  graph::mark_levels(graph, starts, fetch);
}

}  // namespace halo::dist
