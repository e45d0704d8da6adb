#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halo/base/ids.hpp"
#include "halo/dist/ownership.hpp"

namespace halo::mpi {
class Communicator;
}

namespace halo::dist {

/// Who sends which owned rows to whom, for one direction of edges. Immutable after it is built; no
/// duplicates, no self. Halo rows arrive by owner rank and node id, so they land in place behind the owned
/// rows; of a plan for some of them, at receive_rows.
struct HaloPlan {
  std::vector<Rank> send_to;                  ///< neighbour ranks, ascending
  std::vector<std::int64_t> send_offsets;     ///< send_to.size() + 1, into send_rows
  std::vector<LocalId> send_rows;             ///< owned local ids, ascending per neighbour
  std::vector<Rank> receive_from;             ///< ascending
  std::vector<std::int64_t> receive_offsets;  ///< receive_from.size() + 1, halo rows from each
  std::int64_t halo = 0;                      ///< halo rows that a matrix has
  bool some = false;                          ///< a plan for some of the halo rows
  std::vector<LocalId> receive_rows{};        ///< of those, where they belong among the halo rows

  std::int64_t rows_sent() const { return static_cast<std::int64_t>(send_rows.size()); }
  std::int64_t rows_received() const { return receive_offsets.empty() ? 0 : receive_offsets.back(); }
};

/// Collective. `halo` lists the global ids this rank needs, ascending, none of its own.
HaloPlan make_halo_plan(const mpi::Communicator& communicator, const Ownership& ownership,
                        std::span<const NodeId> halo);
/// The part of a plan for rows of at most `level`; `owned` and `halo`: levels that the ranks agree on.
HaloPlan plan_to_level(const HaloPlan& plan, std::span<const std::uint8_t> owned,
                       std::span<const std::uint8_t> halo, std::uint8_t level);

}  // namespace halo::dist
