// Whole models: how their layers are put together.

#include <fmt/format.h>

#include <cmath>

#include "model_parts.hpp"

namespace halo::nn {

ValueId ModelBuilder::activate(ValueId x) {
  if (options.activation == "relu") return program.relu(x);
  return program.activation(x,
                            options.activation == "elu" ? ActivationKind::kElu : ActivationKind::kLeakyRelu);
}

ValueId ModelBuilder::linear(const std::string& name, ValueId x, std::int64_t cols, int layer) {
  const ParameterId weight = program.add_weight(name + ".weight", program.cols(x), cols, layer);
  return program.linear(x, weight, program.add_vector(name + ".bias", cols, layer));
}

ValueId ModelBuilder::normalise(const std::string& name, ValueId x, int layer) {
  const std::int64_t cols = program.cols(x);
  if (options.norm == "none") return x;
  if (options.norm == "l2") return program.l2_norm(x);
  const bool batch = options.norm == "batch";
  const std::string prefix = batch ? name + ".module." : name + ".";
  const ParameterId weight = program.add_vector(prefix + "weight", cols, layer, 1.0);
  const ParameterId bias = program.add_vector(prefix + "bias", cols, layer);
  if (!batch) return program.layer_norm(x, weight, bias);
  const auto tracked = [&](const char* statistic, double value) {
    return program.add_parameter({.name = prefix + statistic,
                                  .rows = 1,
                                  .cols = cols,
                                  .layer = layer,
                                  .learnt = false,
                                  .initial = {.value = value, .bound = 0.0},
                                  .file_shape = {cols}});
  };
  return program.batch_norm(x, {.weight = weight,
                                .bias = bias,
                                .running_mean = tracked("running_mean", 0.0),
                                .running_variance = tracked("running_var", 1.0)});
}

namespace {

ValueId hidden_layer(ModelBuilder& builder, ValueId x, int layer) {
  Program& program = builder.program;
  const ModelOptions& options = builder.options;
  ValueId y = add_layer(builder, x, options.hidden, layer, false);
  if (options.residual == "linear") {
    y = program.add(y, builder.linear(fmt::format("skips.{}", layer), x, options.hidden, layer));
  }
  y = builder.activate(builder.normalise(fmt::format("norms.{}", layer), y, layer));
  if (options.residual == "identity" && program.cols(x) == options.hidden) y = program.add(y, x);
  program.layer_outputs.push_back(y);
  return y;
}

ValueId last_layer(ModelBuilder& builder, ValueId x, std::int64_t cols, int layer) {
  const ValueId y = add_layer(builder, x, cols, layer, true);
  if (builder.options.residual != "linear") return y;
  return builder.program.add(y, builder.linear(fmt::format("skips.{}", layer), x, cols, layer));
}

/// Products of a perceptron: dropout between, activation behind all but the last.
ValueId perceptron(ModelBuilder& builder, ValueId x, std::int64_t cols) {
  const ModelOptions& options = builder.options;
  for (int layer = 0; layer + 1 < options.layers; ++layer) {
    x = builder.linear(fmt::format("lins.{}", layer), x, options.hidden, layer);
    x = builder.activate(builder.normalise(fmt::format("norms.{}", layer), x, layer));
    builder.program.layer_outputs.push_back(x);
    x = builder.dropout(x, options.dropout);
  }
  return builder.linear(fmt::format("lins.{}", options.layers - 1), x, cols, options.layers - 1);
}

int hops_of(const ModelOptions& options, int usual) {
  return options.hops == 0 ? usual : options.hops;
}

}  // namespace

ValueId build_stack(ModelBuilder& builder, ValueId x, std::int64_t cols) {
  const ModelOptions& options = builder.options;
  Program& program = builder.program;
  const bool ends_linear = options.output_linear || options.jumping != "none";
  if (options.input_linear) {
    x = builder.activate(builder.linear("lin_in", x, options.hidden, 0));
    x = builder.dropout(x, options.dropout);
  }
  std::vector<ValueId> outputs;
  const int hidden_layers = ends_linear ? options.layers : options.layers - 1;
  for (int layer = 0; layer < hidden_layers; ++layer) {
    x = builder.dropout(hidden_layer(builder, x, layer), options.dropout);
    outputs.push_back(x);
  }
  if (!ends_linear) return last_layer(builder, x, cols, options.layers - 1);
  if (options.jumping == "cat") x = program.concat(outputs);
  if (options.jumping == "max") x = program.maximum(outputs);
  return builder.linear("lin", x, cols, options.layers);
}

ValueId build_gcnii(ModelBuilder& builder, ValueId x, std::int64_t cols) {
  const ModelOptions& options = builder.options;
  Program& program = builder.program;
  const ValueId initial = builder.activate(builder.linear("lins.0", x, options.hidden, 0));
  x = initial;
  for (int layer = 0; layer < options.layers; ++layer) {
    x = builder.dropout(x, options.dropout);
    const double beta = std::log(options.theta / static_cast<double>(layer + 1) + 1.0);
    const ValueId mixed =
        program.combine(1.0 - options.alpha, program.aggregate(x, Aggregation::kGcn), options.alpha, initial);
    Parameter weight{.name = fmt::format("convs.{}.weight1", layer),
                     .rows = options.hidden,
                     .cols = options.hidden,
                     .layer = layer + 1};
    weight.initial.bound = std::sqrt(3.0 / static_cast<double>(options.hidden));  // Glorot of a square matrix
    weight.file_shape = {options.hidden, options.hidden};
    const ValueId product = program.linear(mixed, program.add_parameter(std::move(weight)));
    x = builder.activate(program.combine(1.0 - beta, mixed, beta, product));
    program.layer_outputs.push_back(x);
  }
  return builder.linear("lins.1", builder.dropout(x, options.dropout), cols, options.layers + 1);
}

ValueId build_appnp(ModelBuilder& builder, ValueId x, std::int64_t cols) {
  const ModelOptions& options = builder.options;
  const ValueId initial = perceptron(builder, x, cols);
  ValueId z = initial;
  for (int hop = 0; hop < hops_of(options, 10); ++hop) {
    z = builder.program.combine(1.0 - options.alpha, builder.program.aggregate(z, Aggregation::kGcn),
                                options.alpha, initial);
  }
  return z;
}

ValueId build_sgc(ModelBuilder& builder, ValueId x, std::int64_t cols) {
  for (int hop = 0; hop < hops_of(builder.options, 2); ++hop)
    x = builder.program.aggregate(x, Aggregation::kGcn);
  return builder.linear("lin", x, cols, 0);
}

ValueId build_sign(ModelBuilder& builder, ValueId x, std::int64_t cols) {
  const ModelOptions& options = builder.options;
  std::vector<ValueId> parts;
  const int hops = hops_of(options, 2);
  for (int hop = 0; hop <= hops; ++hop) {
    if (hop > 0) x = builder.program.aggregate(x, Aggregation::kGcn);
    const ValueId part = builder.linear(fmt::format("lins.{}", hop), x, options.hidden, 0);
    parts.push_back(builder.dropout(builder.activate(part), options.dropout));
  }
  const ValueId joined = builder.program.concat(std::move(parts));
  builder.program.layer_outputs.push_back(joined);
  return builder.linear("lin", joined, cols, 1);
}

ValueId build_mlp(ModelBuilder& builder, ValueId x, std::int64_t cols) {
  return perceptron(builder, x, cols);
}

}  // namespace halo::nn
