// Reverse-mode differentiation: walks the forward operations backwards and appends the gradients as
// operations of the same program, so that every later pass treats forward and backward alike.

#include <algorithm>

#include "../derivation.hpp"
#include "halo/base/error.hpp"
#include "halo/nn/passes.hpp"
#include "uses.hpp"

namespace halo::nn {

Derivation::Derivation(Program program)
    : program_(std::move(program)),
      wanted_(depends_on_parameters(program_)),
      forward_(program_.operations),
      producers_(find_producers(program_)),
      uses_(count_uses(program_)) {}

const Operation* Derivation::sole_producer(ValueId value) const {
  return uses_[at(value)] == 1 ? &forward_[at(producers_[at(value)])] : nullptr;
}

ValueId Derivation::emit(Kind kind, std::vector<ValueId> inputs, std::int64_t cols) {
  return program_.append(std::move(kind), std::move(inputs), cols);
}

ValueId Derivation::widen(const Operation& forward, Kind kind, std::int64_t cols) {
  const ValueId wide = program_.append(std::move(kind), forward.inputs, cols);
  Operation operation = std::move(program_.operations.back());
  program_.operations.pop_back();
  const auto narrow = std::ranges::find(program_.operations, forward.output, &Operation::output);
  *narrow = {.kind = op::Columns{.begin = 0}, .inputs = {wide}, .output = forward.output};
  program_.operations.insert(narrow, std::move(operation));
  return wide;
}

std::optional<ValueId> Derivation::gradient_of(ValueId value) {
  const auto found = terms_.find(value);
  if (found == terms_.end()) return std::nullopt;
  ValueId sum = found->second.front();
  for (std::size_t term = 1; term < found->second.size(); ++term) {
    sum = emit(op::Add{}, {sum, found->second[term]}, program_.cols(value));
  }
  return sum;
}

Program differentiate(const Program& program) {
  Derivation derivation(program);
  const Kind loss = program.external_loss ? Kind(op::ExternalLoss{}) : Kind(op::Loss{});
  derivation.contribute(program.logits,
                        derivation.emit(loss, {program.logits}, program.cols(program.logits)));
  for (std::size_t k = program.operations.size(); k-- > 0;) {
    const Operation& forward = program.operations[k];
    if (forward.output == kNone || !derivation.wanted(forward.output)) continue;
    const std::optional<ValueId> dy = derivation.gradient_of(forward.output);
    if (!dy) continue;
    std::visit(
        [&](const auto& kind) {
          if constexpr (requires { derive(kind, forward, *dy, derivation); }) {
            derive(kind, forward, *dy, derivation);
          } else {
            throw Error("no derivative rule for operation " + describe(forward.kind));
          }
        },
        forward.kind);
  }
  return derivation.take();
}

}  // namespace halo::nn
