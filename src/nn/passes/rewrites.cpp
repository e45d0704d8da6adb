// The small rewrites: dropout removed, aggregations lowered, neighbouring operations fused, unused ones
// dropped.

#include <algorithm>

#include "../traits.hpp"
#include "halo/nn/passes.hpp"
#include "uses.hpp"

namespace halo::nn {
namespace {

void replace_uses(Program& program, ValueId from, ValueId to) {
  for (Operation& operation : program.operations) {
    std::replace(operation.inputs.begin(), operation.inputs.end(), from, to);
  }
  if (program.logits == from) program.logits = to;
  std::replace(program.layer_outputs.begin(), program.layer_outputs.end(), from, to);
}

void erase_marked(Program& program, const std::vector<bool>& dead) {
  std::vector<Operation> kept;
  for (std::size_t k = 0; k < program.operations.size(); ++k) {
    if (!dead[k]) kept.push_back(std::move(program.operations[k]));
  }
  program.operations = std::move(kept);
}

/// Position of the operation of type First that makes the only input of `second` and whose result nobody else
/// reads.
template <typename First>
std::int32_t sole_producer(const Program& program, const Operation& second,
                           const std::vector<std::int32_t>& producers, const std::vector<int>& uses) {
  const ValueId input = second.inputs[0];
  const std::int32_t producer = producers[at(input)];
  if (producer == kNone || uses[at(input)] != 1) return kNone;
  return std::holds_alternative<First>(program.operations[at(producer)].kind) ? producer : kNone;
}

bool is_plain_product(const Operation& operation) {
  if (std::holds_alternative<op::Linear>(operation.kind)) return operation.inputs.size() == 1;
  if (std::holds_alternative<op::LinearInputGradient>(operation.kind)) return operation.inputs.size() == 1;
  return false;
}

}  // namespace

Program remove_dropout(const Program& program) {
  Program result = program;
  std::vector<bool> dead(result.operations.size(), false);
  for (std::size_t k = 0; k < result.operations.size(); ++k) {
    Operation& operation = result.operations[k];
    std::visit(
        [](auto& kind) {
          if constexpr (requires { kind.options.p; }) kind.options.p = 0.0;
        },
        operation.kind);
    if (!std::holds_alternative<op::Dropout>(operation.kind)) continue;
    dead[k] = true;
    replace_uses(result, operation.output, operation.inputs[0]);
  }
  erase_marked(result, dead);
  return result;
}

Program use_running_statistics(const Program& program) {
  Program result = program;
  std::erase_if(result.operations, [](const Operation& operation) {
    return std::holds_alternative<op::BatchNormStatistics>(operation.kind);
  });
  for (Operation& operation : result.operations) {
    if (auto* norm = std::get_if<op::BatchNorm>(&operation.kind)) norm->sums = kNone;
  }
  return result;
}

Program lower_aggregations(const Program& program) {
  Program result = program;
  result.operations.clear();
  for (const Operation& operation : program.operations) {
    const auto* aggregate = std::get_if<op::Aggregate>(&operation.kind);
    if (aggregate == nullptr) {
      result.operations.push_back(operation);
      continue;
    }
    ValueId x = operation.inputs[0];
    op::NeighbourSum sum{.direction = Direction::kIn, .add_loop = false, .after = RowFactor::kOne};
    if (aggregate->kind == Aggregation::kMean) sum.after = RowFactor::kInverseDegree;
    if (aggregate->kind == Aggregation::kGcn) {
      x = result.append(op::ScaleRows{.factor = RowFactor::kGcn}, {x}, program.cols(x));
      sum = {.direction = Direction::kIn, .add_loop = true, .after = RowFactor::kGcn};
    }
    result.operations.push_back({.kind = sum, .inputs = {x}, .output = operation.output});
  }
  return result;
}

Program fuse_relu_dropout(const Program& program) {
  Program result = program;
  const auto producers = find_producers(result);
  const auto uses = count_uses(result);
  std::vector<bool> dead(result.operations.size(), false);
  for (Operation& operation : result.operations) {
    const auto* dropout = std::get_if<op::Dropout>(&operation.kind);
    if (dropout == nullptr) continue;
    const std::int32_t relu = sole_producer<op::Relu>(result, operation, producers, uses);
    if (relu == kNone) continue;
    operation.inputs = result.operations[at(relu)].inputs;
    operation.kind = op::ReluDropout{.p = dropout->p, .stream = dropout->stream};
    dead[at(relu)] = true;
  }
  erase_marked(result, dead);
  return result;
}

Program merge_row_factors(const Program& program) {
  Program result = program;
  const auto producers = find_producers(result);
  const auto uses = count_uses(result);
  std::vector<bool> dead(result.operations.size(), false);
  for (std::size_t k = 0; k < result.operations.size(); ++k) {
    const auto* scale = std::get_if<op::ScaleRows>(&result.operations[k].kind);
    if (scale == nullptr) continue;
    const std::int32_t position =
        sole_producer<op::NeighbourSum>(result, result.operations[k], producers, uses);
    if (position == kNone) continue;
    Operation& operation = result.operations[at(position)];
    auto& sum = std::get<op::NeighbourSum>(operation.kind);
    if (sum.after != RowFactor::kOne) continue;
    sum.after = scale->factor;
    operation.output = result.operations[k].output;
    dead[k] = true;
  }
  erase_marked(result, dead);
  return result;
}

Program fuse_additions(const Program& program) {
  Program result = program;
  const auto producers = find_producers(result);
  const auto uses = count_uses(result);
  std::vector<bool> dead(result.operations.size(), false);
  for (Operation& operation : result.operations) {
    if (!std::holds_alternative<op::Add>(operation.kind)) continue;
    // The product moves down to the addition, so that its result is not held across what lies between them.
    for (const int side : {0, 1}) {
      const ValueId operand = operation.inputs[at(side)];
      const ValueId addend = operation.inputs[at(1 - side)];
      const std::int32_t producer = producers[at(operand)];
      if (producer == kNone || uses[at(operand)] != 1 || operand == addend) continue;
      const Operation& product = result.operations[at(producer)];
      if (!is_plain_product(product)) continue;
      operation = {.kind = product.kind, .inputs = {product.inputs[0], addend}, .output = operation.output};
      dead[at(producer)] = true;
      break;
    }
  }
  erase_marked(result, dead);
  return result;
}

Program drop_unused(const Program& program) {
  Program result = program;
  std::vector<int> uses = count_uses(result);
  std::vector<bool> dead(result.operations.size(), false);
  for (std::size_t k = result.operations.size(); k-- > 0;) {
    const Operation& operation = result.operations[k];
    if (operation.output == kNone || uses[at(operation.output)] > 0) continue;
    if (!gradients_of(operation.kind).empty()) continue;  // adds to a parameter's gradient besides
    dead[k] = true;
    for (const ValueId input : operation.inputs) --uses[at(input)];
  }
  erase_marked(result, dead);
  return result;
}

Program train_program(const Program& model) {
  return drop_unused(fuse_additions(
      merge_row_factors(differentiate(fuse_relu_dropout(lower_aggregations(order_products(model)))))));
}

Program inference_program(const Program& model, ValueId output) {
  Program program = model;
  program.logits = output;
  return drop_unused(fuse_additions(merge_row_factors(
      lower_aggregations(order_products(drop_unused(use_running_statistics(remove_dropout(program))))))));
}

Program evaluation_program(const Program& model) {
  Program program = inference_program(model, model.logits);
  if (!program.external_loss) program.append(op::Score{}, {program.logits});
  return program;
}

}  // namespace halo::nn
