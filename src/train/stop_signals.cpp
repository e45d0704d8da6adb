#include "stop_signals.hpp"

#include <cstddef>

namespace halo::train {
namespace {

volatile std::sig_atomic_t stop_requested = 0;

extern "C" void request_stop(int /*signal*/) {
  stop_requested = 1;
}

}  // namespace

StopSignals::StopSignals() {
  stop_requested = 0;
  struct sigaction action = {};
  action.sa_handler = request_stop;
  action.sa_flags = SA_RESTART;  // MPI's calls go on
  for (std::size_t k = 0; k < kSignals.size(); ++k) sigaction(kSignals[k], &action, &before_[k]);
}

StopSignals::~StopSignals() {
  for (std::size_t k = 0; k < kSignals.size(); ++k) sigaction(kSignals[k], &before_[k], nullptr);
}

bool StopSignals::requested() {
  return stop_requested != 0;
}

}  // namespace halo::train
