#pragma once

#include <cstdint>

namespace halo::testing {

/// Calls of operator new in this program so far, all threads.
std::int64_t allocation_count();

}  // namespace halo::testing
