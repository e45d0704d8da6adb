#include "halo/nn/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "halo/base/counter_rng.hpp"
#include "model_parts.hpp"

namespace halo::nn {
namespace {

using Build = ValueId (*)(ModelBuilder&, ValueId, std::int64_t);

struct Model {
  const char* name;
  Build build;
};
constexpr std::array<Model, 10> kModels = {{{"gcn", build_stack},
                                            {"sage", build_stack},
                                            {"gat", build_stack},
                                            {"gatv2", build_stack},
                                            {"gin", build_stack},
                                            {"gcnii", build_gcnii},
                                            {"appnp", build_appnp},
                                            {"sgc", build_sgc},
                                            {"sign", build_sign},
                                            {"mlp", build_mlp}}};

/// The entry of a name that check_model_options() has let through.
const Model& model_of(const std::string& name) {
  return *std::find_if(kModels.begin(), kModels.end(),
                       [&](const Model& model) { return model.name == name; });
}

/// Features, learnt embedding, or both side by side.
ValueId add_input(ModelBuilder& builder, std::int64_t feature_cols) {
  Program& program = builder.program;
  const std::int64_t learnt = builder.options.embedding;
  if (learnt == 0) return program.input(feature_cols);
  const ValueId embedding = program.append(op::Embedding{}, {}, learnt);
  return feature_cols == 0 ? embedding : program.concat({program.input(feature_cols), embedding});
}

void add_decoder(ModelBuilder& builder, std::int64_t cols) {
  for (const int layer : {0, 1}) {
    const std::int64_t width = layer == 0 ? cols : 1;
    builder.program.add_weight(fmt::format("decoder.lins.{}.weight", layer), cols, width,
                               builder.options.layers);
    builder.program.add_vector(fmt::format("decoder.lins.{}.bias", layer), width, builder.options.layers);
  }
}

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Model& model : kModels) names.emplace_back(model.name);
  return names;
}

std::vector<std::string> stack_names() {
  std::vector<std::string> names;
  for (const Model& model : kModels) {
    if (model.build == build_stack) names.emplace_back(model.name);
  }
  return names;
}

Program build_model(const ModelOptions& options, std::int64_t feature_cols, std::int64_t outputs) {
  check_model_options(options, feature_cols);
  ModelBuilder builder{.options = options};
  const ValueId x = builder.dropout(add_input(builder, feature_cols), options.input_dropout);
  builder.program.logits =
      model_of(options.model).build(builder, x, options.encoder ? options.hidden : outputs);
  builder.program.external_loss = options.encoder;
  builder.program.half_rows = options.storage == "bf16";
  if (options.encoder && options.decoder == "mlp") add_decoder(builder, options.hidden);
  return std::move(builder.program);
}

template <typename Real>
void initialise_parameters(const Program& program, std::uint64_t seed, Real* flat) {
  constexpr std::uint64_t kInitialisation = 0x1000000;  // above every dropout stream
  std::uint64_t number = 0;
  for (const Parameter& parameter : program.parameters) {
    RandomStream random(CounterRng(seed, 0, kInitialisation + number++).row_key(0));
    for (std::int64_t k = 0; k < parameter.size(); ++k) {
      const double spread = parameter.initial.bound * (2.0 * random.uniform() - 1.0);
      flat[parameter.offset + k] = static_cast<Real>(parameter.initial.value + spread);
    }
  }
}

template void initialise_parameters(const Program&, std::uint64_t, float*);
template void initialise_parameters(const Program&, std::uint64_t, double*);

}  // namespace halo::nn
