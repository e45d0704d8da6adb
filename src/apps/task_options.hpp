#pragma once

#include <CLI/CLI.hpp>

#include "halo/nn/models.hpp"
#include "halo/train/task_options.hpp"

namespace halo::apps {

/// Options of losses, metrics and link prediction.
void add_task_options(CLI::App& app, train::TaskOptions& task, nn::ModelOptions& model);

}  // namespace halo::apps
