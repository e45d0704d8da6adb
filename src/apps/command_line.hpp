#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace halo::apps {

/// Parses on every rank (all see the same words); the one that `speaks` answers --help and complains. Returns
/// the exit status, or -1 to go on.
int parse(CLI::App& app, int argc, char** argv, bool speaks);

/// A figure of merit with four decimals; null: the split has no nodes.
std::string format_score(const nlohmann::json& value);

}  // namespace halo::apps
