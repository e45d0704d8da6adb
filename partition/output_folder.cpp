#include "output_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <system_error>

#include "halo/base/error.hpp"

namespace halo::partition {
namespace {

namespace fs = std::filesystem;

/// Absolute, without a slash at the end.
fs::path clean_path(const fs::path& path) {
  const fs::path absolute = fs::absolute(path).lexically_normal();
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

void refuse(const std::string& what, const fs::path& where, const std::string& expected) {
  throw InputError(
      {.what = what, .where = "--out " + where.string(), .found = "", .expected = expected, .next = ""});
}

constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t signal_received = 0;

extern "C" void remember_signal(int signal) {
  signal_received = signal;
}

}  // namespace

void OutputFolder::check(const fs::path& path) {
  const fs::path folder = clean_path(path);
  std::error_code error;
  if (!fs::is_directory(folder.parent_path(), error)) {
    refuse("the folder that shall hold the result does not exist", folder,
           "an existing folder: " + folder.parent_path().string());
  }
  if (!fs::exists(fs::symlink_status(folder, error))) return;
  if (!fs::is_directory(fs::symlink_status(folder, error)) || !fs::is_empty(folder, error) || error) {
    refuse("the result exists already", folder, "a new name, or an empty folder");
  }
}

OutputFolder::OutputFolder(const fs::path& path) : final_(clean_path(path)) {
  check(final_);
  temporary_ =
      final_.parent_path() / fmt::format(".{}.unfinished-{}", final_.filename().string(), ::getpid());
  std::error_code error;
  if (!fs::create_directory(temporary_, error)) {
    throw Error(fmt::format("cannot make the folder {}: {}", temporary_.string(),
                            error ? error.message() : "it exists"));
  }
}

OutputFolder::~OutputFolder() {
  if (temporary_.empty()) return;
  std::error_code ignored;  // a destructor can tell nobody
  fs::remove_all(temporary_, ignored);
}

void OutputFolder::commit() {
  std::error_code error;
  fs::rename(temporary_, final_, error);
  if (error) {
    throw Error(
        fmt::format("cannot rename {} to {}: {}", temporary_.string(), final_.string(), error.message()));
  }
  temporary_.clear();
}

struct InterruptGuard::Handlers {
  std::array<struct sigaction, kSignals.size()> actions;
};

InterruptGuard::InterruptGuard() : before_(std::make_unique<Handlers>()) {
  signal_received = 0;
  struct sigaction action = {};
  action.sa_handler = remember_signal;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_->actions[i]);
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_->actions[i], nullptr);
}

void InterruptGuard::check() const {
  if (signal_received != 0)
    throw Error(fmt::format("interrupted by signal {}: nothing was kept", +signal_received));
}

}  // namespace halo::partition
