#include "watcher_process.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "host_watch.hpp"

namespace halo::mpi {
namespace {

using Clock = std::chrono::steady_clock;

/// A death that may follow from another waits so long to be told: the kernel may not have finished ending the
/// peer whose memory was missed.
constexpr std::chrono::milliseconds kSettle{300};
/// At most what a rank gets that is on its way out, and what the launcher gets to end the others.
constexpr std::chrono::milliseconds kGrace{2000};

struct Address {
  sockaddr_un name{};
  socklen_t size = 0;
};

/// A name in the kernel's abstract space: no file to leave behind.
Address address_of(pid_t watcher) {
  Address address;
  address.name.sun_family = AF_UNIX;
  const std::string name = fmt::format("halo-rank-watch-{}", watcher);
  std::copy(name.begin(), name.end(), address.name.sun_path + 1);
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

int listen_as(pid_t watcher) {
  const int listener = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const Address address = address_of(watcher);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address.name), address.size) != 0) return -1;
  return ::listen(listener, SOMAXCONN) == 0 ? listener : -1;
}

/// Every descriptor of the parent but stderr and `keep` goes: whoever waits for the end of one must not wait
/// for this process.
void drop_descriptors(std::initializer_list<int> keep) {
  std::vector<int> open;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    open.push_back(std::stoi(entry.path().filename().string()));
  }
  for (const int descriptor : open) {
    if (descriptor > STDERR_FILENO && std::find(keep.begin(), keep.end(), descriptor) == keep.end()) {
      ::close(descriptor);
    }
  }
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(null, STDIN_FILENO);
  ::dup2(null, STDOUT_FILENO);
  ::close(null);
}

/// One write, so that lines of several hosts do not mix.
void say(const std::string& what) {
  const auto now = std::chrono::system_clock::now();
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  const std::string line =
      fmt::format("[{:%H:%M:%S}.{:03}] error: {}\n",
                  fmt::localtime(std::chrono::system_clock::to_time_t(now)), since.count() % 1000, what);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

/// Takes events until `done`, for at most `span`.
template <typename Done>
void take_events(HostWatch& host, std::chrono::milliseconds span, const Done& done) {
  const auto end = Clock::now() + span;
  for (auto now = Clock::now(); now < end && !done(); now = Clock::now()) {
    host.wait(static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(end - now).count()) + 1);
  }
}

}  // namespace

// By number: the C libraries of many clusters have no wrappers yet.
int open_pidfd(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}
int signal_pidfd(int pidfd, int signal) {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
}

int launcher_descriptor() {
  const char* const text = std::getenv("PMI_FD");
  const int descriptor = text == nullptr ? -1 : std::atoi(text);
  return descriptor > STDERR_FILENO && ::fcntl(descriptor, F_GETFD) >= 0 ? descriptor : -1;
}

void register_with_watcher(pid_t watcher, std::int64_t rank) {
  const int connection = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const Address address = address_of(watcher);
  if (::connect(connection, reinterpret_cast<const sockaddr*>(&address.name), address.size) == 0) {
    iovec data = {&rank, sizeof(rank)};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    const int launcher = launcher_descriptor();
    if (launcher >= 0) {
      message.msg_control = control;
      message.msg_controllen = sizeof(control);
      cmsghdr* const header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(header), &launcher, sizeof(int));
    }
    ::sendmsg(connection, &message, MSG_NOSIGNAL);
  }
  ::close(connection);
}

void run_watcher(int ready, pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_NAME, "halo-rank-watch");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE}) std::signal(signal, SIG_IGN);
  drop_descriptors({ready, launcher_descriptor()});
  HostWatch host(listen_as(::getpid()), parent);
  const char byte = 1;
  if (::write(ready, &byte, 1) != 1) ::_exit(0);
  ::close(ready);

  while (!host.any_dead()) host.wait(-1);
  if (host.first_may_follow()) {
    take_events(host, kSettle, [&] { return !host.any_alive(); });
    take_events(host, kGrace, [&] { return !host.any_exiting(); });
  }
  say(host.describe_dead());
  host.release_launcher();
  take_events(host, kGrace, [&] { return !host.any_alive(); });
  host.kill_living();
  ::_exit(0);
}

}  // namespace halo::mpi
