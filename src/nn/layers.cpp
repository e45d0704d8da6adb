// One graph layer of each model that is a stack of them. Parameters are named as the convolution modules of
// PyTorch Geometric name theirs.

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "model_parts.hpp"

namespace halo::nn {
namespace {

std::string name_of(int layer, const char* name) {
  return fmt::format("convs.{}.{}", layer, name);
}

ValueId gcn_layer(ModelBuilder& builder, ValueId x, std::int64_t cols, int layer, bool) {
  Program& program = builder.program;
  const ParameterId weight = program.add_weight(name_of(layer, "lin.weight"), program.cols(x), cols, layer);
  const ValueId sum = program.aggregate(program.linear(x, weight), Aggregation::kGcn);
  return program.add_bias(sum, program.add_vector(name_of(layer, "bias"), cols, layer));
}

ValueId sage_neighbours(ModelBuilder& builder, ValueId x, int layer) {
  Program& program = builder.program;
  const std::string& aggregator = builder.options.aggregator;
  if (aggregator == "mean") return program.aggregate(x, Aggregation::kMean);
  if (aggregator == "sum") return program.aggregate(x, Aggregation::kSum);
  if (aggregator == "pool")
    x = program.relu(builder.linear(name_of(layer, "lin"), x, program.cols(x), layer));
  return append_neighbour_max(program, x);
}

ValueId sage_layer(ModelBuilder& builder, ValueId x, std::int64_t cols, int layer, bool) {
  Program& program = builder.program;
  const ValueId neighbours = sage_neighbours(builder, x, layer);
  const ParameterId weight = program.add_weight(name_of(layer, "lin_l.weight"), program.cols(x), cols, layer);
  const ParameterId bias = program.add_vector(name_of(layer, "lin_l.bias"), cols, layer);
  ValueId y = kNone;
  if (builder.options.root_weight) {
    const ParameterId root = program.add_weight(name_of(layer, "lin_r.weight"), program.cols(x), cols, layer);
    y = program.add(program.linear(x, root, bias), program.linear(neighbours, weight));
  } else {
    y = program.add_bias(program.linear(neighbours, weight), bias);
  }
  return builder.options.l2_normalise ? program.l2_norm(y) : y;
}

ValueId gin_layer(ModelBuilder& builder, ValueId x, std::int64_t cols, int layer, bool) {
  Program& program = builder.program;
  const bool learnt = builder.options.learn_epsilon;
  const ParameterId epsilon = program.add_parameter({.name = name_of(layer, "eps"),
                                                     .rows = 1,
                                                     .cols = 1,
                                                     .layer = layer,
                                                     .learnt = learnt,
                                                     .file_shape = {1}});
  const ValueId sum = program.aggregate(x, Aggregation::kSum);
  ValueId y = program.append(op::AddScaled{.epsilon = epsilon, .learnt = learnt}, {sum, x}, program.cols(x));
  y = builder.linear(name_of(layer, "nn.lins.0"), y, cols, layer);
  y = builder.activate(builder.normalise(name_of(layer, "nn.norms.0"), y, layer));
  return builder.linear(name_of(layer, "nn.lins.1"), y, cols, layer);
}

/// Scores' parameters: [1, heads, channels] in files, Glorot over heads and channels as its authors start
/// them.
ParameterId attention_vector(Program& program, const std::string& name, int heads, std::int64_t channels,
                             int layer) {
  const double bound = std::sqrt(6.0 / static_cast<double>(heads + channels));
  return program.add_parameter({.name = name,
                                .rows = 1,
                                .cols = heads * channels,
                                .layer = layer,
                                .initial = {.value = 0.0, .bound = bound},
                                .file_shape = {1, heads, channels}});
}

/// Heads side by side, in the last layer averaged; then the bias.
ValueId join_heads(ModelBuilder& builder, ValueId y, int heads, int layer, bool last) {
  Program& program = builder.program;
  if (last && heads > 1) y = program.head_mean(y, heads);
  return program.add_bias(y, program.add_vector(name_of(layer, "bias"), program.cols(y), layer));
}

struct Heads {
  int count;
  std::int64_t channels;
  std::int64_t width() const { return count * channels; }
};

Heads heads_of(const ModelOptions& options, std::int64_t cols, bool last) {
  return last ? Heads{options.output_heads, cols} : Heads{options.heads, cols / options.heads};
}

AttentionOptions attention_options(ModelBuilder& builder, int heads) {
  return {.heads = heads,
          .slope = builder.options.negative_slope,
          .loops = true,
          .p = builder.options.attention_dropout,
          .stream = builder.streams++};
}

ValueId gat_layer(ModelBuilder& builder, ValueId x, std::int64_t cols, int layer, bool last) {
  Program& program = builder.program;
  const Heads heads = heads_of(builder.options, cols, last);
  const ParameterId weight =
      program.add_weight(name_of(layer, "lin.weight"), program.cols(x), heads.width(), layer);
  const ParameterId source =
      attention_vector(program, name_of(layer, "att_src"), heads.count, heads.channels, layer);
  const ParameterId target =
      attention_vector(program, name_of(layer, "att_dst"), heads.count, heads.channels, layer);
  const ValueId y = append_attention(program, program.linear(x, weight), source, target,
                                     attention_options(builder, heads.count));
  return join_heads(builder, y, heads.count, layer, last);
}

ValueId gatv2_layer(ModelBuilder& builder, ValueId x, std::int64_t cols, int layer, bool last) {
  Program& program = builder.program;
  const Heads heads = heads_of(builder.options, cols, last);
  const ValueId left = builder.linear(name_of(layer, "lin_l"), x, heads.width(), layer);
  const ValueId right = builder.linear(name_of(layer, "lin_r"), x, heads.width(), layer);
  const ParameterId vector =
      attention_vector(program, name_of(layer, "att"), heads.count, heads.channels, layer);
  const ValueId y =
      append_attention_v2(program, left, right, vector, attention_options(builder, heads.count));
  return join_heads(builder, y, heads.count, layer, last);
}

using Layer = ValueId (*)(ModelBuilder&, ValueId, std::int64_t, int, bool);

}  // namespace

ValueId add_layer(ModelBuilder& builder, ValueId x, std::int64_t cols, int layer, bool last) {
  static const std::map<std::string, Layer> layers = {{"gcn", gcn_layer},
                                                      {"sage", sage_layer},
                                                      {"gat", gat_layer},
                                                      {"gatv2", gatv2_layer},
                                                      {"gin", gin_layer}};
  return layers.at(builder.options.model)(builder, x, cols, layer, last);
}

}  // namespace halo::nn
