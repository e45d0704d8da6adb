#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace halo::mpi {

/// The ranks of one host as their watching process sees them.
class HostWatch {
 public:
  /// `listener`: socket on which ranks register; `parent` is watched from the start, not yet as a rank.
  HostWatch(int listener, pid_t parent);

  /// Waits until a rank registers or ends, at most `milliseconds` (-1: for ever). Takes one event, in the
  /// order in which the kernel saw them, however late this process wakes.
  void wait(int milliseconds);
  bool any_dead() const { return !dead_.empty(); }
  bool any_alive() const;
  /// True if the first death may be the consequence of another.
  bool first_may_follow() const { return any_dead() && processes_[dead_.front()].may_follow; }
  /// True while a rank that has not ended yet is on its way out: its peers may see its memory gone, and
  /// abort, before the kernel has it ended.
  bool any_exiting() const;
  /// Who died and how, in one line; those that aborted last.
  std::string describe_dead() const;
  /// Closes the copies of the ranks' connections to the launcher.
  void release_launcher();
  void kill_living() const;

 private:
  struct Process {
    std::int64_t rank = -1;  ///< -1: not registered yet
    pid_t pid = -1;
    int pidfd = -1;
    int launcher = -1;        ///< copy of its connection to the launcher
    std::string end;          ///< how it ended; empty while it runs
    bool may_follow = false;  ///< it aborted, or nobody knows how it ended
    bool aborted = false;
  };
  void add(pid_t pid);
  void take_registration();
  void mark_dead(std::size_t index);

  int poll_ = -1;
  int listener_ = -1;
  std::vector<std::size_t> dead_;  ///< in the order seen
  std::vector<Process> processes_;
};

}  // namespace halo::mpi
