#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halo/mpi/communicator.hpp"

namespace halo::mpi {

/// Collective. One integer for each rank, one from each rank.
std::vector<std::int64_t> all_to_all(const Communicator& communicator, std::span<const std::int64_t> values);

/// Integers from every rank: those of rank r are values[offsets[r] .. offsets[r + 1]).
struct Received {
  std::vector<std::int64_t> values;
  std::vector<std::int64_t> offsets;  ///< ranks + 1

  std::span<const std::int64_t> from(Rank rank) const;
};

/// Collective. values[offsets[r] .. offsets[r + 1]) goes to rank r (`offsets`: ranks + 1). One call for the
/// counts, one for the values; Error where a total passes 2^31.
Received all_to_all(const Communicator& communicator, std::span<const std::int64_t> values,
                    std::span<const std::int64_t> offsets);

/// Collective. The same of lists: for_rank[r] goes to rank r (`for_rank`: ranks).
Received send_to_ranks(const Communicator& communicator,
                       const std::vector<std::vector<std::int64_t>>& for_rank);

}  // namespace halo::mpi
