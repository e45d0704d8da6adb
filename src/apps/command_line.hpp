#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace halo::apps {

/// How ranks run and what they say, in every program on MPI.
struct RankArguments {
  int threads = 0;  ///< per rank; 0: automatic
  std::string transport = "nonblocking";
  std::string log_level = "info";
  bool quiet = false;
};

/// Options of `arguments`, in the group that app.option_defaults() has.
void add_rank_options(CLI::App& app, RankArguments& arguments);

/// Parses on every rank (all see the same words); the one that `speaks` answers --help and complains. Returns
/// the exit status, or -1 to go on.
int parse(CLI::App& app, int argc, char** argv, bool speaks);

/// A figure of merit with four decimals; null: the split has no nodes.
std::string format_score(const nlohmann::json& value);

/// Prints what train::infer() has found, a line for each figure of each split, and the folder it wrote to,
/// if any.
void print_inference(const nlohmann::ordered_json& scores, const std::string& out);

}  // namespace halo::apps
