#include "interrupt_guard.hpp"

#include <fmt/format.h>

#include <array>
#include <csignal>

#include "halo/base/error.hpp"

namespace halo::partition {
namespace {

constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t signal_received = 0;

extern "C" void remember_signal(int signal) {
  signal_received = signal;
}

}  // namespace

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
