#include "uses.hpp"

#include <algorithm>

#include "../traits.hpp"
#include "halo/nn/passes.hpp"

namespace halo::nn {

std::vector<int> count_uses(const Program& program) {
  std::vector<int> uses(program.values.size(), 0);
  for (const Operation& operation : program.operations) {
    for (const ValueId input : operation.inputs) ++uses[at(input)];
  }
  if (program.logits != kNone) ++uses[at(program.logits)];
  return uses;
}

std::vector<std::int32_t> find_producers(const Program& program) {
  std::vector<std::int32_t> producers(program.values.size(), kNone);
  for (std::size_t k = 0; k < program.operations.size(); ++k) {
    const ValueId output = program.operations[k].output;
    if (output != kNone) producers[at(output)] = static_cast<std::int32_t>(k);
  }
  return producers;
}

std::vector<bool> depends_on_parameters(const Program& program) {
  std::vector<bool> depends(program.values.size(), false);
  for (const Operation& operation : program.operations) {
    if (operation.output == kNone) continue;
    depends[at(operation.output)] =
        is_learnt(operation.kind) || std::any_of(operation.inputs.begin(), operation.inputs.end(),
                                                 [&](ValueId input) { return depends[at(input)]; });
  }
  return depends;
}

std::vector<bool> constant_values(const Program& program) {
  std::vector<bool> constant(program.values.size(), false);
  for (const Operation& operation : program.operations) {
    if (operation.output == kNone) continue;
    constant[at(operation.output)] =
        is_foldable(operation.kind) && std::all_of(operation.inputs.begin(), operation.inputs.end(),
                                                   [&](ValueId input) { return constant[at(input)]; });
  }
  return constant;
}

std::vector<ParameterId> transposed_weights(const Program& program) {
  std::vector<ParameterId> weights;
  for (const Operation& operation : program.operations) {
    const auto* linear = std::get_if<op::LinearInputGradient>(&operation.kind);
    if (linear == nullptr || std::ranges::find(weights, linear->weight) != weights.end()) continue;
    weights.push_back(linear->weight);
  }
  return weights;
}

}  // namespace halo::nn
