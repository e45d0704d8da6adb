#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <exception>

#include "handle.hpp"

namespace halo::mpi {

Environment::Environment(int* argc, char*** argv) : exceptions_at_start_(std::uncaught_exceptions()) {
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  if (provided < MPI_THREAD_FUNNELED) {
    throw MpiError(
        fmt::format("MPI_Init_thread: this MPI library offers thread level {}, but threads beside the one "
                    "that calls MPI need MPI_THREAD_FUNNELED ({})",
                    provided, MPI_THREAD_FUNNELED));
  }
}

Environment::~Environment() {
  if (std::uncaught_exceptions() > exceptions_at_start_) return;
  if (is_running()) MPI_Finalize();
}

void abort_all(int status) {
  if (is_running()) MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace halo::mpi
