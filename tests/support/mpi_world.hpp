#pragma once

#include "halo/mpi/communicator.hpp"

namespace halo::testing {

/// The communicator of all ranks of this test program (made by the main() of mpi_main.cpp).
const mpi::Communicator& world();

}  // namespace halo::testing
