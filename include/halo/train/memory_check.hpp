#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halo/base/host_memory.hpp"
#include "halo/base/ids.hpp"
#include "halo/mpi/communicator.hpp"
#include "halo/train/rank_memory.hpp"

namespace halo::train {

/// What one rank needs, and what there is where it runs.
struct MemoryNeed {
  std::string host;
  std::int64_t resident = 0;           ///< it has already
  std::vector<FreeMemory> free;        ///< what it shares with others that name the same bound on this host
  std::vector<PurposeBytes> purposes;  ///< of all it needs
};
MemoryNeed need_of(const RankMemory& memory);
/// Collective. Of every rank, on rank 0.
std::vector<MemoryNeed> gather_needs(const mpi::Communicator& communicator, const RankMemory& memory);

/// InputError, which names the bytes by purpose and what to do, if a rank needs more than `limit` (0: no
/// limit), or the ranks that share a bound need more than it has free. `parts`: the most ranks there can be.
void check_fits(const std::vector<MemoryNeed>& needs, std::int64_t limit, PartId parts);

/// Collective. check_fits() of all ranks; the same error on each.
void check_memory(const mpi::Communicator& communicator, const RankMemory& memory, std::int64_t limit,
                  PartId parts);

}  // namespace halo::train
