#include "command_line.hpp"

#include <fmt/format.h>

#include "halo/base/error.hpp"

namespace halo::apps {

int parse(CLI::App& app, int argc, char** argv, bool speaks) {
  try {
    app.parse(argc, argv);
    return -1;
  } catch (const CLI::ParseError& error) {
    const bool asked =
        error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);  // --help, --version
    if (speaks) app.exit(error);
    return asked ? static_cast<int>(ExitStatus::kDone) : static_cast<int>(ExitStatus::kBadInput);
  }
}

std::string format_score(const nlohmann::json& value) {
  return value.is_null() ? "none (no such nodes)" : fmt::format("{:.4f}", value.get<double>());
}

}  // namespace halo::apps
