#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "halo/train/option_record.hpp"

namespace halo::apps {

/// Gives the program `--config FILE`: options by name, one `key = value` a line, in the part of TOML that
/// options need (strings, numbers, booleans, arrays of them, comments). The command line overrides the file.
/// While parsing: InputError naming the file, the line and the key on an unknown key, one that is there
/// twice, or a line that is not `key = value`. `default_file`: read when the command line names no other;
/// empty: none.
void add_option_file(CLI::App& app, const std::string& default_file = "");

/// Every option of a parsed command line with its resolved value, in the order of registration.
train::OptionRecord record_of(CLI::App& app);

}  // namespace halo::apps
