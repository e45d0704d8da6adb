#include "command_line.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "halo/base/error.hpp"

namespace halo::apps {

void add_rank_options(CLI::App& app, RankArguments& arguments) {
  app.add_option("--threads", arguments.threads, "threads per rank; 0: the cores of a rank, shared fairly");
  app.add_option(
      "--transport", arguments.transport,
      "how halo rows travel: nonblocking, blocking, p2p, persistent, or auto: measured at the start");
  app.add_flag("--quiet", arguments.quiet, "warnings and errors only");
  app.add_option("--log-level", arguments.log_level, "trace, debug, info, warn, error or off");
}

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

void print_inference(const nlohmann::ordered_json& scores, const std::string& out) {
  constexpr std::array<std::pair<std::string_view, const char*>, 3> kSplits = {
      {{"train_", "training"}, {"val_", "validation"}, {"test_", "test"}}};
  for (const auto& [prefix, split] : kSplits) {
    for (const auto& [name, value] : scores.items()) {
      if (name.starts_with(prefix)) {
        fmt::print("{} {} {}\n", split, name.substr(prefix.size()), format_score(value));
      }
    }
  }
  if (!out.empty()) fmt::print("results in {}\n", out);
}

}  // namespace halo::apps
