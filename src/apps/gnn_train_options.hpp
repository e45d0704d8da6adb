#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "halo/train/options.hpp"

namespace halo::apps {

/// The command line of gnn_train.
struct TrainArguments {
  train::TrainOptions train;
  std::string transport = "nonblocking";
  std::string weight_decay_on = "all";
  std::string log_level = "info";
  bool quiet = false;
};

void add_train_options(CLI::App& app, TrainArguments& arguments);

/// Fills in what the options above give as words. InputError on words that mean nothing.
void resolve(TrainArguments& arguments);

}  // namespace halo::apps
