#include "halo/base/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>

#include <algorithm>

#include "halo/base/error.hpp"

namespace halo {

void set_up_log(const std::string& level, bool quiet, const std::string& tag) {
  const auto parsed = spdlog::level::from_str(level);
  if (parsed == spdlog::level::off && level != "off") {
    throw InputError({.what = "unknown log level",
                      .where = "--log-level",
                      .found = level,
                      .expected = "trace, debug, info, warn, error or off",
                      .next = ""});
  }
  auto logger =
      std::make_shared<spdlog::logger>("halo", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_level(quiet ? std::max(parsed, spdlog::level::warn) : parsed);
  logger->set_pattern(tag.empty() ? "[%H:%M:%S] %^%l%$ %v" : "[%H:%M:%S] [" + tag + "] %^%l%$ %v");
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace halo
