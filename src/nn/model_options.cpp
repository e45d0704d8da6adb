#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "halo/base/error.hpp"
#include "model_parts.hpp"

namespace halo::nn {
namespace {

using Names = std::vector<std::string>;

bool is_in(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check(bool good, const char* option, const std::string& found, const std::string& expected) {
  if (good) return;
  throw InputError({.what = "model option out of range",
                    .where = option,
                    .found = found,
                    .expected = expected,
                    .next = ""});
}

void check_name(const char* option, const std::string& found, const Names& names) {
  check(is_in(names, found), option, found, fmt::format("{}", fmt::join(names, ", ")));
}

void check_at_least(const char* option, std::int64_t found, std::int64_t least) {
  check(found >= least, option, std::to_string(found), fmt::format("at least {}", least));
}

void check_probability(const char* option, double p) {
  check(p >= 0.0 && p < 1.0, option, fmt::format("{}", p), "0 <= p < 1");
}

/// An option that only some models read.
void check_read(const ModelOptions& options, const char* option, bool is_default, const Names& models) {
  if (is_default || is_in(models, options.model)) return;
  throw InputError({.what = "the model does not read this option",
                    .where = option,
                    .found = "--model " + options.model,
                    .expected = fmt::format("--model {}", fmt::join(models, " or ")),
                    .next = fmt::format("leave {} out", option)});
}

void check_ranges(const ModelOptions& options) {
  check_name("--model", options.model, model_names());
  check_name("--activation", options.activation, {"relu", "elu", "leaky_relu"});
  check_name("--norm", options.norm, {"none", "batch", "layer", "l2"});
  check_name("--residual", options.residual, {"none", "identity", "linear"});
  check_name("--jumping", options.jumping, {"none", "cat", "max"});
  check_name("--aggregator", options.aggregator, {"mean", "sum", "max", "pool"});
  check_name("--storage", options.storage, {"float32", "bf16"});
  check_name("--decoder", options.decoder, {"dot", "mlp"});
  check_at_least("--layers", options.layers, 1);
  check_at_least("--hidden", options.hidden, 1);
  check_at_least("--heads", options.heads, 1);
  check_at_least("--output-heads", options.output_heads, 1);
  check_at_least("--hops", options.hops, 0);
  check_at_least("--embedding", options.embedding, 0);
  check_probability("--dropout", options.dropout);
  check_probability("--input-dropout", options.input_dropout);
  check_probability("--attention-dropout", options.attention_dropout);
  check(options.alpha >= 0.0 && options.alpha <= 1.0, "--alpha", fmt::format("{}", options.alpha), "0 to 1");
  check(options.theta > 0.0, "--theta", fmt::format("{}", options.theta), "above 0");
  check(options.negative_slope >= 0.0, "--negative-slope", fmt::format("{}", options.negative_slope),
        "0 or more");
}

Names all_but(const Names& left_out) {
  Names names = model_names();
  std::erase_if(names, [&](const std::string& name) { return is_in(left_out, name); });
  return names;
}

/// Options of more than one kind of model.
void check_shared_read(const ModelOptions& options) {
  const ModelOptions usual{};
  const Names stacks = stack_names();
  Names with_norm = stacks;
  with_norm.emplace_back("mlp");
  check_read(options, "--layers", options.layers == usual.layers, all_but({"sgc", "sign"}));
  check_read(options, "--dropout", options.dropout == usual.dropout, all_but({"sgc"}));
  check_read(options, "--activation", options.activation == usual.activation, all_but({"sgc"}));
  check_read(options, "--norm", options.norm == usual.norm, with_norm);
  check_read(options, "--residual", options.residual == usual.residual, stacks);
  check_read(options, "--jumping", options.jumping == usual.jumping, stacks);
  check_read(options, "--input-linear", !options.input_linear, stacks);
  check_read(options, "--output-linear", !options.output_linear, stacks);
  check_read(options, "--alpha", options.alpha == usual.alpha, {"gcnii", "appnp"});
  check_read(options, "--hops", options.hops == usual.hops, {"sgc", "sign", "appnp"});
}

/// Options of one kind of layer.
void check_layer_read(const ModelOptions& options) {
  const ModelOptions usual{};
  const Names attention = {"gat", "gatv2"};
  check_read(options, "--aggregator", options.aggregator == usual.aggregator, {"sage"});
  check_read(options, "--no-root-weight", options.root_weight, {"sage"});
  check_read(options, "--l2-normalise", !options.l2_normalise, {"sage"});
  check_read(options, "--heads", options.heads == usual.heads, attention);
  check_read(options, "--output-heads", options.output_heads == usual.output_heads, attention);
  check_read(options, "--attention-dropout", options.attention_dropout == usual.attention_dropout, attention);
  check_read(options, "--negative-slope", options.negative_slope == usual.negative_slope, attention);
  check_read(options, "--learn-epsilon", !options.learn_epsilon, {"gin"});
  check_read(options, "--theta", options.theta == usual.theta, {"gcnii"});
  const bool divides = !is_in(attention, options.model) || options.hidden % options.heads == 0;
  check(divides, "--hidden", std::to_string(options.hidden),
        fmt::format("a multiple of --heads {}", options.heads));
}

}  // namespace

void check_model_options(const ModelOptions& options, std::int64_t feature_cols) {
  check_ranges(options);
  check_shared_read(options);
  check_layer_read(options);
  if (feature_cols == 0 && options.embedding == 0) {
    throw InputError({.what = "the dataset has no features",
                      .where = "--embedding",
                      .found = "0",
                      .expected = "the number of learnt columns for each node",
                      .next = "add --embedding 64, say"});
  }
}

}  // namespace halo::nn
