#pragma once

#include <spdlog/spdlog.h>

#include <string>

namespace halo {

/// Sets up the process-wide log on stderr. `level`: trace, debug, info, warn, error or off, InputError on
/// anything else; `quiet` keeps warnings and errors only. `tag` stands in front of every line ("rank 3");
/// empty for none. Results go to stdout, never through the log.
void set_up_log(const std::string& level, bool quiet, const std::string& tag = "");

}  // namespace halo
