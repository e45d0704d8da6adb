#include "model_options.hpp"

#include <fmt/format.h>

namespace halo::apps {
namespace {

void add_layer_options(CLI::App& app, nn::ModelOptions& model) {
  app.add_option("--aggregator", model.aggregator, "sage: mean, sum, max or pool (max of a learnt layer)");
  app.add_flag("!--no-root-weight", model.root_weight, "sage: without the product of a node's own row");
  app.add_flag("--l2-normalise", model.l2_normalise, "sage: rows of each layer's output to length 1");
  app.add_option("--heads", model.heads,
                 "gat, gatv2: attention heads of hidden layers, which share --hidden");
  app.add_option("--output-heads", model.output_heads,
                 "gat, gatv2: attention heads of the last layer, averaged");
  app.add_option("--attention-dropout", model.attention_dropout, "gat, gatv2: dropout on attention");
  app.add_option("--negative-slope", model.negative_slope, "gat, gatv2: of the leaky relu on scores");
  app.add_flag("--learn-epsilon", model.learn_epsilon, "gin: learn the weight of a node's own row");
  app.add_option("--alpha", model.alpha, "gcnii, appnp: share of the initial representation");
  app.add_option("--theta", model.theta, "gcnii: strength of the identity mapping");
  app.add_option("--hops", model.hops, "sgc, sign, appnp: propagations; 0: 2 for sgc and sign, 10 for appnp");
}

}  // namespace

void add_model_options(CLI::App& app, nn::ModelOptions& model) {
  app.option_defaults()->group("Model")->always_capture_default();
  app.add_option("--model", model.model, fmt::format("{}", fmt::join(nn::model_names(), ", ")));
  app.add_option("--layers", model.layers, "number of layers");
  app.add_option("--hidden", model.hidden, "columns of the hidden layers");
  app.add_option("--dropout", model.dropout, "dropout before every layer but the first");
  app.add_option("--input-dropout", model.input_dropout,
                 "dropout on the features; above 0 the first aggregation has to run every epoch");
  app.add_option("--activation", model.activation, "of hidden layers: relu, elu or leaky_relu");
  app.add_option("--norm", model.norm, "of hidden layers: none, batch, layer or l2");
  app.add_option("--residual", model.residual,
                 "identity: x + layer(x) where the widths agree; linear: layer(x) + x W + b; or none");
  app.add_option("--jumping", model.jumping,
                 "jumping knowledge of all hidden layers: cat or max, then a linear layer; or none");
  app.add_flag("--input-linear", model.input_linear, "a linear layer in front of the first layer");
  app.add_flag("--output-linear", model.output_linear, "hidden layers only, then a linear layer");
  app.add_option("--embedding", model.embedding,
                 "learnt columns for each node, beside the features or instead of them; 0: none");
  app.add_option(
      "--storage", model.storage,
      "of activations, gradients and halo rows between stages: float32, or bf16 for half the bytes; "
      "sums, products and parameters are float32");
  add_layer_options(app, model);
}

}  // namespace halo::apps
