#pragma once

#include <sys/types.h>

#include <cstdint>

namespace halo::mpi {

int open_pidfd(pid_t pid);
int signal_pidfd(int pidfd, int signal);

/// Descriptor of this process's connection to its launcher (PMI); -1 if it has none.
int launcher_descriptor();

/// Tells the watching process `watcher` on this host that this process is `rank`. Without effect if it cannot
/// be reached.
void register_with_watcher(pid_t watcher, std::int64_t rank);

/// Life of the watching process: writes a byte to `ready` when it can be reached, takes registrations, waits
/// for the first of the ranks to end, says so and ends the others. `parent` is watched from the start. Never
/// returns.
[[noreturn]] void run_watcher(int ready, pid_t parent);

}  // namespace halo::mpi
