#pragma once

#include <sys/types.h>

namespace halo::mpi {

/// Says on stderr which rank died, and ends the others. A rank that is killed cannot speak, and a launcher
/// may kill the survivors before they can (MPICH's does so at once, without SIGTERM, and names a process that
/// need not be the first). So each host has a watching process in a session of its own, out of the launcher's
/// reach. It holds a copy of every rank's connection to the launcher, so that the end of one does not start
/// the killing before the kernel has told the watching process of the death. Ranks that still run two seconds
/// later are killed, for launchers that leave them waiting.
///
/// Environment holds one. Does nothing where the kernel lacks pidfd_open (Linux before 5.3).
class RankWatch {
 public:
  /// Forks the watching process: before MPI_Init and before any thread is started.
  RankWatch();
  /// Ends the watching process: nothing is said of ranks that end from then on.
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

  /// Collective over all ranks, after MPI_Init: one watching process stays for each host.
  void watch_this_host();

  /// Ends this host's watching process from any rank, which has said itself why it ends the job. Safe at any
  /// time.
  static void silence();

 private:
  void dismiss();

  pid_t watcher_ = -1;  ///< child of this process, until dismissed
};

}  // namespace halo::mpi
