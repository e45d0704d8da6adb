#include "check_option.hpp"

#include <fmt/format.h>

#include <cmath>

#include "halo/base/error.hpp"

namespace halo::optim {

void check_option(bool good, const char* option, double found, const char* expected) {
  if (good && std::isfinite(found)) return;
  throw InputError({.what = "optimiser option out of range",
                    .where = option,
                    .found = fmt::format("{}", found),
                    .expected = expected,
                    .next = ""});
}

}  // namespace halo::optim
