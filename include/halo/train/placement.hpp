#pragma once

#include <string>
#include <vector>

#include "halo/mpi/communicator.hpp"

namespace halo::train {

/// Where a rank runs.
struct RankPlacement {
  std::string host;
  int pid = 0;
  std::vector<int> cpus;  ///< it may use
  int threads = 1;
};

/// Collective. The placement of every rank, on every rank. `threads` 0: the CPUs a rank may use divided by
/// the ranks of its host that may use the very same ones (a bound rank has its own), at least 1.
std::vector<RankPlacement> place_ranks(const mpi::Communicator& communicator, int threads);

/// "0-3,8": CPU numbers as ranges.
std::string cpu_ranges(const std::vector<int>& cpus);

}  // namespace halo::train
