#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "command_line.hpp"
#include "halo/train/options.hpp"

namespace halo::apps {

/// The command line of gnn_train.
struct TrainArguments {
  train::TrainOptions train;
  RankArguments ranks;
  std::string weight_decay_on = "all";
  std::string select = "val_loss";
  std::string resume;          ///< run folder; empty: a new run
  bool evaluate_only = false;  ///< evaluate train.initial_weights instead of training
  bool plan = false;           ///< say what training would need instead of training
  std::string memory_limit;    ///< of each rank, "4G"; empty: what its host has
};

void add_train_options(CLI::App& app, TrainArguments& arguments);

/// Fills in what the options above give as words. InputError on words that mean nothing.
void resolve(TrainArguments& arguments);

/// What the words of a command line say of where a run begins and ends, without a file of options.
struct CommandLine {
  std::string resume;
  std::string out;
  std::string config;
  std::string initial_weights;
  std::string trace;
  std::int64_t checkpoint_every = 0;
  std::int64_t runs = 1;
  bool evaluate_only = false;
};

/// InputError on options that exclude each other. Words that cannot be read are left to the program's own
/// parser.
CommandLine read_command_line(int argc, const char* const* argv);

/// The options of the run that `--resume` names; empty if it names none. InputError if there is no run.
std::filesystem::path stored_option_file(const CommandLine& line);

}  // namespace halo::apps
