#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halo/nn/models.hpp"
#include "halo/nn/program.hpp"

namespace halo::nn {

/// What the builders of models share: the program, the options and the counters that number its random
/// streams.
struct ModelBuilder {
  const ModelOptions& options;
  Program program{};
  std::uint64_t streams = 0;

  /// x with dropout of its own random stream.
  ValueId dropout(ValueId x, double p) { return program.dropout(x, p, streams++); }
  ValueId activate(ValueId x);
  /// x W + b under the names <name>.weight and <name>.bias.
  ValueId linear(const std::string& name, ValueId x, std::int64_t cols, int layer);
  /// The norm the options ask for, parameters under `name`.
  ValueId normalise(const std::string& name, ValueId x, int layer);
};

/// One graph layer of a stack: x -> pre-activation of `cols` columns. `last`: it makes the model's output.
ValueId add_layer(ModelBuilder& builder, ValueId x, std::int64_t cols, int layer, bool last);

// Whole models: features (or embedding) -> output of `cols` columns. Each notes the outputs of its hidden
// layers.
ValueId build_stack(ModelBuilder& builder, ValueId x, std::int64_t cols);
ValueId build_gcnii(ModelBuilder& builder, ValueId x, std::int64_t cols);
ValueId build_appnp(ModelBuilder& builder, ValueId x, std::int64_t cols);
ValueId build_sgc(ModelBuilder& builder, ValueId x, std::int64_t cols);
ValueId build_sign(ModelBuilder& builder, ValueId x, std::int64_t cols);
ValueId build_mlp(ModelBuilder& builder, ValueId x, std::int64_t cols);

/// Names of the models that build_stack() makes.
std::vector<std::string> stack_names();

/// InputError on unknown names, options out of range, and options that the model does not read.
void check_model_options(const ModelOptions& options, std::int64_t feature_cols);

}  // namespace halo::nn
