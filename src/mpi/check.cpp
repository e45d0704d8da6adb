#include <fmt/format.h>
#include <sched.h>

#include <array>

#include "halo/base/cpu.hpp"
#include "handle.hpp"

namespace halo::mpi {

std::string error_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) return fmt::format("error code {}", code);
  return {text.data(), static_cast<std::size_t>(length)};
}

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  int rank = -1;
  if (is_running()) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  throw MpiError(
      fmt::format("{} failed on rank {} on host {}: {}", call, rank, host_name(), error_text(code)));
}

bool is_running() {
  int initialised = 0;
  int finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  return initialised != 0 && finalised == 0;
}

void complete(MPI_Request& request, const char* call) {
  for (int done = 0; done == 0;) {
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), call);
    if (done == 0) ::sched_yield();
  }
}

bool RequestSet::test() {
  int done = 1;
  if (requests_.size() == 1) {  // MPICH 4.0.2: MPI_Testall fails on persistent collectives, MPI_Test does not
    check(MPI_Test(requests_.data(), &done, MPI_STATUS_IGNORE), "MPI_Test");
  } else if (!requests_.empty()) {
    check(MPI_Testall(to_count(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
          "MPI_Testall");
  }
  if (done != 0) requests_.clear();
  return done != 0;
}

void RequestSet::wait() {
  while (!test()) ::sched_yield();
}

RequestSet::~RequestSet() {
  if (requests_.empty() || guard_.unwinding() || !is_running()) return;
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

}  // namespace halo::mpi
