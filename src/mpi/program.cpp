#include "halo/mpi/program.hpp"

#include <fmt/format.h>

#include "halo/base/cpu.hpp"

namespace halo::mpi {

int run_program(int argc, char** argv, const std::function<int(const Communicator&)>& body) {
  const Environment environment(&argc, &argv);
  const Communicator communicator = Communicator::world();
  try {
    return body(communicator);
  } catch (const std::exception& error) {
    if (is_agreed(error)) {
      return communicator.rank() == 0 ? report_failure(error) : static_cast<int>(exit_status_of(error));
    }
    abort_all(report_failure(error, fmt::format("rank {} on host {}", communicator.rank(), host_name())));
  }
}

}  // namespace halo::mpi
