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
  std::string resume;  ///< run folder; empty: a new run
};

void add_train_options(CLI::App& app, TrainArguments& arguments);

/// Fills in what the options above give as words. InputError on words that mean nothing.
void resolve(TrainArguments& arguments);

/// The options of the run that `--resume` names on a command line; empty if it names none. InputError if
/// there is no run, or another option says where the run or its options are.
std::filesystem::path stored_option_file(int argc, const char* const* argv);

}  // namespace halo::apps
