// Runs in a forked process in which only one thread exists and MPI was never started: plain system calls
// only.
#include "host_watch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <sstream>

#include "halo/base/cpu.hpp"
#include "watcher_process.hpp"

namespace halo::mpi {
namespace {

/// Fields of /proc/<pid>/stat after the name, of which the first is the state; empty if there is none. Plain
/// reads: a stream may throw where the process ends meanwhile.
std::vector<std::string> stat_of(pid_t pid) {
  const int file = ::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::array<char, 4096> bytes{};
  const ssize_t size = ::read(file, bytes.data(), bytes.size());
  ::close(file);
  const std::string text(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(text.substr(name_end + 1));
  return {std::istream_iterator<std::string>(fields), {}};
}

bool is_exiting(pid_t pid) {
  constexpr std::size_t kFlags = 6;
  constexpr unsigned long kExiting = 4;  // PF_EXITING of the kernel
  const std::vector<std::string> stat = stat_of(pid);
  return stat.size() > kFlags && (std::strtoul(stat[kFlags].c_str(), nullptr, 10) & kExiting) != 0;
}

/// Wait status of a process that the launcher has not waited for yet: the last field; -1 otherwise.
int wait_status(pid_t pid) {
  const std::vector<std::string> stat = stat_of(pid);
  return stat.empty() || stat.front() != "Z" ? -1 : std::atoi(stat.back().c_str());
}

std::string describe_end(int status) {
  if (status < 0) return "died";
  if (WIFSIGNALED(status)) {
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

struct Registration {
  std::int64_t rank = -1;
  pid_t pid = -1;  ///< as this process sees it, whatever namespace the rank is in
  int launcher = -1;
};

/// Reads one registration; rank -1 unless it comes from a process of this user.
Registration receive_registration(int connection) {
  Registration registration;
  ucred sender{};
  socklen_t size = sizeof(sender);
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &sender, &size) != 0 || sender.uid != ::getuid())
    return {};
  iovec data = {&registration.rank, sizeof(registration.rank)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  if (::recvmsg(connection, &message, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof(registration.rank)))
    return {};
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&registration.launcher, CMSG_DATA(header), sizeof(int));
  }
  registration.pid = sender.pid;
  return registration;
}

constexpr std::uint64_t kListener = ~std::uint64_t{0};

void poll_for(int poll, int descriptor, std::uint64_t what) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = what;
  ::epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event);
}

}  // namespace

HostWatch::HostWatch(int listener, pid_t parent)
    : poll_(::epoll_create1(EPOLL_CLOEXEC)), listener_(listener) {
  poll_for(poll_, listener_, kListener);
  add(parent);
  processes_.front().launcher = launcher_descriptor();
}

void HostWatch::add(pid_t pid) {
  const std::size_t index = processes_.size();
  processes_.push_back({.rank = -1,
                        .pid = pid,
                        .pidfd = open_pidfd(pid),
                        .launcher = -1,
                        .end = "",
                        .may_follow = false,
                        .aborted = false});
  if (processes_[index].pidfd < 0) {
    mark_dead(index);
  } else {
    poll_for(poll_, processes_[index].pidfd, index);
  }
}

void HostWatch::mark_dead(std::size_t index) {
  const int status = wait_status(processes_[index].pid);
  processes_[index].end = describe_end(status);
  processes_[index].aborted = status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  processes_[index].may_follow = status < 0 || processes_[index].aborted;
  ::epoll_ctl(poll_, EPOLL_CTL_DEL, processes_[index].pidfd, nullptr);
  dead_.push_back(index);
}

void HostWatch::take_registration() {
  const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (connection < 0) return;
  const Registration registration = receive_registration(connection);
  ::close(connection);
  if (registration.rank < 0) return;
  const auto known = [&](const Process& process) { return process.pid == registration.pid; };
  if (std::none_of(processes_.begin(), processes_.end(), known)) add(registration.pid);
  Process& process = *std::find_if(processes_.begin(), processes_.end(), known);
  process.rank = registration.rank;
  if (process.launcher < 0) {
    process.launcher = registration.launcher;
  } else if (registration.launcher >= 0) {
    ::close(registration.launcher);
  }
}

void HostWatch::wait(int milliseconds) {
  epoll_event event{};
  if (::epoll_wait(poll_, &event, 1, milliseconds) != 1) return;
  const std::uint64_t what = event.data.u64;
  if (what == kListener) {
    take_registration();
  } else {
    mark_dead(static_cast<std::size_t>(what));
  }
}

bool HostWatch::any_alive() const {
  return std::any_of(processes_.begin(), processes_.end(), [](const Process& p) { return p.end.empty(); });
}

bool HostWatch::any_exiting() const {
  return std::any_of(processes_.begin(), processes_.end(),
                     [](const Process& p) { return p.end.empty() && is_exiting(p.pid); });
}

std::string HostWatch::describe_dead() const {
  std::vector<std::size_t> order = dead_;
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t index) { return !processes_[index].aborted; });
  std::vector<std::string> lines;
  for (const std::size_t index : order) {
    const Process& process = processes_[index];
    lines.push_back(fmt::format("{} (pid {} on host {}) {} {}",
                                process.rank < 0 ? "a rank" : fmt::format("rank {}", process.rank),
                                process.pid, host_name(), process.end,
                                process.rank < 0 ? "while MPI was starting" : "before the job was done"));
  }
  return fmt::format("{}; the other ranks are ended", fmt::join(lines, ", "));
}

void HostWatch::release_launcher() {
  for (Process& process : processes_) {
    if (process.launcher >= 0) ::close(process.launcher);
    process.launcher = -1;
  }
}

void HostWatch::kill_living() const {
  for (const Process& process : processes_) {
    if (process.end.empty()) signal_pidfd(process.pidfd, SIGKILL);
  }
}

}  // namespace halo::mpi
