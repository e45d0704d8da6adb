#pragma once

#include <cstdint>

#include "halo/base/function_ref.hpp"

namespace halo {

/// Runs body(index, thread) for every index in [0, count) on up to `threads` threads; threads take indices
/// one by one as they become free, so `body` must not let its result depend on `thread`. Thread 0 is the
/// caller. `between` (may be empty) is called by thread 0 after each of its indices: the place to poke
/// communication. Allocates nothing. The first exception thrown by a body is rethrown after all threads have stopped.
void parallel_for(std::int64_t count, int threads, FunctionRef<void(std::int64_t, int)> body,
                  FunctionRef<void()> between = {});

}  // namespace halo
