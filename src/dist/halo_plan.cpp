#include "halo/dist/halo_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "halo/base/checked_cast.hpp"
#include "halo/mpi/communicator.hpp"
#include "halo/mpi/exchange.hpp"

namespace halo::dist {
namespace {

/// Throws Error unless `ids` are strictly ascending nodes of `nodes`: a plan built on anything else would
/// send wrong rows.
void check_ids(std::span<const NodeId> ids, RowRange nodes, const std::string& what) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < nodes.begin || ids[i] >= nodes.end || (i > 0 && ids[i] <= ids[i - 1])) {
      throw Error(fmt::format("{}: id {} at position {} is outside [{}, {}) or not ascending", what, ids[i],
                              i, nodes.begin, nodes.end));
    }
  }
}

void check_halo(const Ownership& ownership, Rank self, std::span<const NodeId> halo) {
  check_ids(halo, {0, ownership.first_node.back()}, "halo ids");
  const RowRange own = ownership.nodes_of(self);
  const auto first_own = std::lower_bound(halo.begin(), halo.end(), own.begin);
  if (first_own != halo.end() && *first_own < own.end) {
    throw Error(fmt::format("halo ids: {} is owned by this rank", *first_own));
  }
}

}  // namespace

HaloPlan make_halo_plan(const mpi::Communicator& communicator, const Ownership& ownership,
                        std::span<const NodeId> halo) {
  const int ranks = communicator.size();
  const Rank self = communicator.rank();
  communicator.agree([&] {
    if (ownership.ranks() != ranks) throw Error("halo plan: ownership is for another number of ranks");
    check_halo(ownership, self, halo);
  });

  // Ascending ids are grouped by owner already, since owners have ascending ranges.
  std::vector<std::int64_t> asked_offsets{0};
  for (Rank rank = 0; rank < ranks; ++rank) {
    const auto end = std::lower_bound(halo.begin(), halo.end(), ownership.nodes_of(rank).end);
    asked_offsets.push_back(end - halo.begin());
  }
  const mpi::Received wanted = mpi::all_to_all(communicator, halo, asked_offsets);

  HaloPlan plan;
  plan.send_offsets.push_back(0);
  plan.receive_offsets.push_back(0);
  communicator.agree([&] {
    const RowRange own = ownership.nodes_of(self);
    for (Rank rank = 0; rank < ranks; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      if (asked_offsets[r + 1] > asked_offsets[r]) {
        plan.receive_from.push_back(rank);
        plan.receive_offsets.push_back(asked_offsets[r + 1]);
      }
      const std::span<const NodeId> ids = wanted.from(rank);
      if (ids.empty()) continue;
      check_ids(ids, own, fmt::format("rows that rank {} asked for", rank));
      plan.send_to.push_back(rank);
      for (const NodeId id : ids) plan.send_rows.push_back(checked_cast<LocalId>(id - own.begin, "local id"));
      plan.send_offsets.push_back(plan.rows_sent());
    }
    plan.halo = plan.rows_received();
  });
  return plan;
}

HaloPlan plan_to_level(const HaloPlan& plan, std::span<const std::uint8_t> owned,
                       std::span<const std::uint8_t> halo, std::uint8_t level) {
  HaloPlan part;
  part.some = true;
  part.halo = plan.halo;
  part.send_to = plan.send_to;
  part.receive_from = plan.receive_from;
  part.send_offsets = part.receive_offsets = {0};
  for (std::size_t n = 0; n < plan.send_to.size(); ++n) {
    for (std::int64_t k = plan.send_offsets[n]; k < plan.send_offsets[n + 1]; ++k) {
      const LocalId row = plan.send_rows[at(k)];
      if (owned[at(row)] <= level) part.send_rows.push_back(row);
    }
    part.send_offsets.push_back(part.rows_sent());
  }
  for (std::size_t n = 0; n < plan.receive_from.size(); ++n) {
    for (std::int64_t k = plan.receive_offsets[n]; k < plan.receive_offsets[n + 1]; ++k) {
      if (halo[at(k)] <= level) part.receive_rows.push_back(static_cast<LocalId>(k));
    }
    part.receive_offsets.push_back(std::ssize(part.receive_rows));
  }
  return part;
}

}  // namespace halo::dist
