#pragma once

#include <CLI/CLI.hpp>

#include "halo/nn/models.hpp"

namespace halo::apps {

/// Registers what decides the model, for every program that builds one.
void add_model_options(CLI::App& app, nn::ModelOptions& model);

}  // namespace halo::apps
