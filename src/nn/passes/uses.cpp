#include "uses.hpp"

#include <algorithm>

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
    const bool learnt = std::holds_alternative<op::Linear>(operation.kind) ||
                        std::holds_alternative<op::AddBias>(operation.kind);
    depends[at(operation.output)] = learnt || std::any_of(operation.inputs.begin(), operation.inputs.end(),
                                                          [&](ValueId input) { return depends[at(input)]; });
  }
  return depends;
}

std::vector<bool> constant_values(const Program& program) {
  std::vector<bool> constant(program.values.size(), false);
  for (const Operation& operation : program.operations) {
    if (operation.output == kNone) continue;
    const Kind& kind = operation.kind;
    const bool foldable =
        std::holds_alternative<op::Input>(kind) || std::holds_alternative<op::Aggregate>(kind) ||
        std::holds_alternative<op::ScaleRows>(kind) || std::holds_alternative<op::NeighbourSum>(kind) ||
        std::holds_alternative<op::Relu>(kind) || std::holds_alternative<op::Add>(kind);
    constant[at(operation.output)] =
        foldable && std::all_of(operation.inputs.begin(), operation.inputs.end(),
                                [&](ValueId input) { return constant[at(input)]; });
  }
  return constant;
}

}  // namespace halo::nn
