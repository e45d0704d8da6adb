#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "halo/base/cpu.hpp"
#include "handle.hpp"

namespace halo::mpi {
namespace {

std::atomic<bool> aborting = false;

/// exit() before the end of the job: some launchers then report success, so this rank says so and fails.
void refuse_early_exit() {
  if (aborting || !is_running()) return;
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fmt::print(stderr, "error: rank {} on host {} called exit() before the job was done\n", rank, host_name());
  RankWatch::silence();
  ::_exit(static_cast<int>(ExitStatus::kFailure));
}

/// MPICH's launcher drops what it has not read of a rank's output when the rank aborts: waits until the pipe
/// or socket to it is empty, two seconds at most.
void let_launcher_read(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return;
  const bool pipe = S_ISFIFO(status.st_mode);
  if (!pipe && !S_ISSOCK(status.st_mode)) return;  // a file or a terminal has it already
  constexpr int kTries = 200;
  constexpr useconds_t kPause = 10000;  // microseconds
  for (int attempt = 0; attempt < kTries; ++attempt) {
    int unread = 0;
    if (::ioctl(descriptor, pipe ? FIONREAD : TIOCOUTQ, &unread) != 0 || unread == 0) return;
    ::usleep(kPause);
  }
}

}  // namespace

Environment::Environment(int* argc, char*** argv) : exceptions_at_start_(std::uncaught_exceptions()) {
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  std::atexit(refuse_early_exit);
  if (provided < MPI_THREAD_FUNNELED) {
    throw MpiError(
        fmt::format("MPI_Init_thread: this MPI library offers thread level {}, but threads beside the one "
                    "that calls MPI need MPI_THREAD_FUNNELED ({})",
                    provided, MPI_THREAD_FUNNELED));
  }
  rank_watch_.watch_this_host();
}

Environment::~Environment() {
  if (std::uncaught_exceptions() > exceptions_at_start_ || !is_running()) return;
  // All ranks are past their work here: none may still be watched when the first of them ends.
  MPI_Barrier(MPI_COMM_WORLD);
  RankWatch::silence();
  MPI_Finalize();
}

void abort_all(int status) {
  let_launcher_read(STDERR_FILENO);
  aborting = true;
  RankWatch::silence();
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
