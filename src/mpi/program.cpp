#include "halo/mpi/program.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "halo/base/cpu.hpp"

namespace halo::mpi {

int run_program(int argc, char** argv, const std::function<int(const Communicator&)>& body) {
  const Environment environment(&argc, &argv);
  const Communicator communicator = Communicator::world();
  try {
    return body(communicator);
  } catch (const std::exception& error) {
    const int status = static_cast<int>(exit_status_of(error));
    if (is_agreed(error)) {
      if (communicator.rank() == 0) fmt::print(stderr, "error: {}\n", error.what());
      return status;
    }
    fmt::print(stderr, "error: rank {} on host {}: {}\n", communicator.rank(), host_name(), error.what());
    std::fflush(nullptr);
    abort_all(status);
  }
}

}  // namespace halo::mpi
