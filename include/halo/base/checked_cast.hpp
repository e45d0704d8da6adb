#pragma once

#include <fmt/format.h>

#include <utility>

#include "halo/base/error.hpp"

namespace halo {

/// Converts between integer types; throws Error naming `what` if the value does not fit.
template <typename To, typename From>
To checked_cast(From value, const char* what) {
  if (!std::in_range<To>(value)) {
    throw Error(fmt::format("{} = {} does not fit into {} bits", what, value, sizeof(To) * 8));
  }
  return static_cast<To>(value);
}

}  // namespace halo
