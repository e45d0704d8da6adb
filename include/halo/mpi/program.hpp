#pragma once

#include <functional>

#include "halo/mpi/communicator.hpp"

namespace halo::mpi {

/// What main() of an MPI program returns: starts MPI, runs `body` on every rank and turns what it throws into
/// the exit status of exit_status_of(). An agreed error is printed once, by rank 0, and the ranks leave in
/// order; any other is printed by its rank, which then ends the job.
int run_program(int argc, char** argv, const std::function<int(const Communicator&)>& body);

}  // namespace halo::mpi
