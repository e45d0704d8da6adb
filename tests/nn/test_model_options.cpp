// Options out of range, and options that a model would ignore, are refused by name.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "halo/base/error.hpp"
#include "halo/nn/models.hpp"

namespace nn = halo::nn;

namespace {

struct Bad {
  const char* option;
  nn::ModelOptions options;
  std::int64_t feature_cols = 4;
};

void check_refused(const Bad& bad) {
  CAPTURE(bad.option);
  CAPTURE(bad.options.model);
  std::string message;
  try {
    nn::build_model(bad.options, bad.feature_cols, 2);
  } catch (const halo::InputError& error) {
    message = error.what();
  }
  CHECK(message.find(bad.option) != std::string::npos);
}

}  // namespace

TEST_CASE("options that the model does not read are refused by name") {
  const std::vector<Bad> all = {
      {"--layers", {.model = "sgc", .layers = 1}},
      {"--layers", {.model = "sign", .layers = 3}},
      {"--dropout", {.model = "sgc", .dropout = 0.0}},
      {"--activation", {.model = "sgc", .activation = "elu"}},
      {"--norm", {.model = "gcnii", .norm = "batch"}},
      {"--norm", {.model = "appnp", .norm = "layer"}},
      {"--residual", {.model = "mlp", .residual = "linear"}},
      {"--jumping", {.model = "gcnii", .jumping = "cat"}},
      {"--input-linear", {.model = "mlp", .input_linear = true}},
      {"--output-linear", {.model = "sign", .output_linear = true}},
      {"--aggregator", {.model = "gin", .aggregator = "sum"}},
      {"--no-root-weight", {.model = "gcn", .root_weight = false}},
      {"--l2-normalise", {.model = "gcn", .l2_normalise = true}},
      {"--heads", {.model = "sage", .heads = 4}},
      {"--output-heads", {.model = "gcn", .output_heads = 2}},
      {"--attention-dropout", {.model = "gin", .attention_dropout = 0.5}},
      {"--negative-slope", {.model = "mlp", .negative_slope = 0.1}},
      {"--learn-epsilon", {.model = "sage", .learn_epsilon = true}},
      {"--alpha", {.model = "gcn", .alpha = 0.2}},
      {"--theta", {.model = "appnp", .theta = 1.0}},
      {"--hops", {.model = "gcnii", .hops = 3}},
  };
  for (const Bad& bad : all) check_refused(bad);
}

TEST_CASE("options out of range are refused by name") {
  const std::vector<Bad> all = {
      {"--model", {.model = "transformer"}},
      {"--layers", {.layers = 0}},
      {"--hidden", {.hidden = 0}},
      {"--hidden", {.model = "gat", .hidden = 10, .heads = 4}},
      {"--dropout", {.dropout = 1.0}},
      {"--input-dropout", {.input_dropout = -0.1}},
      {"--activation", {.activation = "tanh"}},
      {"--norm", {.norm = "group"}},
      {"--residual", {.residual = "dense"}},
      {"--jumping", {.jumping = "lstm"}},
      {"--aggregator", {.model = "sage", .aggregator = "median"}},
      {"--heads", {.model = "gat", .heads = 0}},
      {"--output-heads", {.model = "gat", .output_heads = 0}},
      {"--attention-dropout", {.model = "gat", .attention_dropout = 1.0}},
      {"--negative-slope", {.model = "gat", .negative_slope = -0.1}},
      {"--alpha", {.model = "gcnii", .alpha = 2.0}},
      {"--theta", {.model = "gcnii", .theta = 0.0}},
      {"--hops", {.model = "sgc", .hops = -1}},
      {"--decoder", {.decoder = "cosine"}},
      {"--storage", {.storage = "fp16"}},
      {"--embedding", {.embedding = -1}},
      {"--embedding", {}, 0},
  };
  for (const Bad& bad : all) check_refused(bad);
}

TEST_CASE("every model takes the defaults, whatever it reads") {
  for (const std::string& name : nn::model_names()) CHECK_NOTHROW(nn::build_model({.model = name}, 4, 2));
}
