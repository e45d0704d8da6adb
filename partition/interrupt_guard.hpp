#pragma once

#include <memory>

namespace halo::partition {

/// While one of these lives, SIGINT, SIGTERM and SIGHUP no longer end the process but make check() throw, so
/// that what was begun is cleaned up. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Error if a signal came since the guard was made.
  void check() const;

 private:
  struct Handlers;
  std::unique_ptr<Handlers> before_;
};

}  // namespace halo::partition
