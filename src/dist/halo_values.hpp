#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halo/dist/halo_plan.hpp"
#include "halo/mpi/communicator.hpp"

namespace halo::dist {

/// Collective. One integer of each halo node of the plan, in the order of the halo rows, from its owner.
/// `owned`: one for each owned node. For what is fetched once; rows of features travel by HaloGather.
std::vector<std::int64_t> halo_values(const mpi::Communicator& communicator, const HaloPlan& plan,
                                      std::span<const std::int64_t> owned);

}  // namespace halo::dist
