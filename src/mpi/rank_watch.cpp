#include "halo/mpi/rank_watch.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "handle.hpp"
#include "watcher_process.hpp"

namespace halo::mpi {
namespace {

/// Of this host's watching process; negative while there is none.
std::atomic<int> watcher_pidfd = -1;

}  // namespace

RankWatch::RankWatch() {
  const int probe = open_pidfd(::getpid());
  if (probe < 0) return;
  ::close(probe);
  int ready[2] = {-1, -1};
  if (::pipe2(ready, O_CLOEXEC) != 0) return;
  const pid_t parent = ::getpid();
  watcher_ = ::fork();
  if (watcher_ == 0) run_watcher(ready[1], parent);
  ::close(ready[1]);
  char byte = 0;
  if (watcher_ > 0 && ::read(ready[0], &byte, 1) == 1) watcher_pidfd = open_pidfd(watcher_);
  ::close(ready[0]);
}

RankWatch::~RankWatch() {
  dismiss();
}

void RankWatch::dismiss() {
  silence();
  if (watcher_ > 0) {
    ::kill(watcher_, SIGKILL);
    ::waitpid(watcher_, nullptr, 0);
  }
  watcher_ = -1;
}

void RankWatch::watch_this_host() {
  MPI_Comm host = MPI_COMM_NULL;
  int host_rank = 0;
  int rank = 0;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
        "MPI_Comm_split_type");
  check(MPI_Comm_rank(host, &host_rank), "MPI_Comm_rank");
  std::int64_t watcher = watcher_;
  check(MPI_Bcast(&watcher, 1, MPI_INT64_T, 0, host), "MPI_Bcast");
  check(MPI_Comm_free(&host), "MPI_Comm_free");
  if (host_rank != 0) dismiss();
  if (watcher <= 0) return;
  register_with_watcher(static_cast<pid_t>(watcher), rank);
  if (host_rank != 0) watcher_pidfd = open_pidfd(static_cast<pid_t>(watcher));
}

void RankWatch::silence() {
  const int pidfd = watcher_pidfd.exchange(-1);
  if (pidfd < 0) return;
  signal_pidfd(pidfd, SIGKILL);
  ::close(pidfd);
}

}  // namespace halo::mpi
