#include "halo_values.hpp"

#include <utility>

#include "halo/mpi/exchange.hpp"

namespace halo::dist {

std::vector<std::int64_t> halo_values(const mpi::Communicator& communicator, const HaloPlan& plan,
                                      std::span<const std::int64_t> owned) {
  std::vector<std::int64_t> packed;
  for (const LocalId row : plan.send_rows) packed.push_back(owned[at(row)]);
  std::vector<std::int64_t> offsets{0};
  std::size_t next = 0;
  for (Rank rank = 0; rank < communicator.size(); ++rank) {
    const bool sends = next < plan.send_to.size() && plan.send_to[next] == rank;
    offsets.push_back(sends ? plan.send_offsets[++next] : offsets.back());
  }
  // Halo rows lie by owner rank and node id: what arrives by rank is in their order.
  return std::move(mpi::all_to_all(communicator, packed, offsets).values);
}

}  // namespace halo::dist
