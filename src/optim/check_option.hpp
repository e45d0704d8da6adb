#pragma once

namespace halo::optim {

/// InputError unless `good` holds and `found` is finite.
void check_option(bool good, const char* option, double found, const char* expected);

}  // namespace halo::optim
