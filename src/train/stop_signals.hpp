#pragma once

#include <array>
#include <csignal>

namespace halo::train {

/// While it lives, TERM, USR1 and INT ask the run to stop after its epoch instead of killing the process. One
/// at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Whether this process has been asked. Other ranks may not have been yet.
  static bool requested();

 private:
  static constexpr std::array<int, 3> kSignals = {SIGTERM, SIGUSR1, SIGINT};
  std::array<struct sigaction, 3> before_ = {};
};

}  // namespace halo::train
