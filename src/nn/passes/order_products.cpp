// Which comes first, the product or the aggregation? Both are linear, A (x W) = (A x) W, so the cheaper order
// may be taken.

#include <algorithm>

#include "halo/nn/passes.hpp"
#include "uses.hpp"

namespace halo::nn {
namespace {

/// Two neighbouring operations, one an Aggregate and one a Linear without bias, that may change places.
struct Pair {
  Operation* first;
  Operation* second;
  const op::Linear* linear;
  bool product_first;
};

bool aggregate_should_be_first(const Program& program, const Pair& pair, bool constant_x,
                               bool x_needs_gradient) {
  const Parameter& weight = program.parameter(pair.linear->weight);
  if (constant_x) return weight.rows <= kFoldedColumnsLimit * weight.cols;
  // The gradient of W always needs the backward aggregation of a product-first pair; the other order needs it
  // only for x, and may have it of the narrower gradient. Of equal orders aggregation first keeps less: x alone.
  const std::int64_t product_first = 2 * weight.cols;
  if (!x_needs_gradient) return weight.rows < product_first;
  return weight.rows + std::min(weight.rows, weight.cols) <= product_first;
}

bool find_pair(Program& program, Operation& second, const std::vector<std::int32_t>& producers,
               const std::vector<int>& uses, Pair& pair) {
  if (second.inputs.size() != 1 || producers[at(second.inputs[0])] == kNone) return false;
  Operation& first = program.operations[at(producers[at(second.inputs[0])])];
  if (uses[at(first.output)] != 1 || first.inputs.size() != 1) return false;
  const bool product_first = std::holds_alternative<op::Linear>(first.kind);
  const op::Linear* linear = std::get_if<op::Linear>(product_first ? &first.kind : &second.kind);
  const op::Aggregate* aggregate = std::get_if<op::Aggregate>(product_first ? &second.kind : &first.kind);
  if (linear == nullptr || aggregate == nullptr || linear->bias != kNone) return false;
  pair = {.first = &first, .second = &second, .linear = linear, .product_first = product_first};
  return true;
}

}  // namespace

Program order_products(const Program& program) {
  Program result = program;
  const auto producers = find_producers(result);
  const auto uses = count_uses(result);
  const auto constant = constant_values(result);
  const auto needs_gradient = depends_on_parameters(result);
  for (Operation& operation : result.operations) {
    Pair pair{};
    if (!find_pair(result, operation, producers, uses, pair)) continue;
    const ValueId x = pair.first->inputs[0];
    const bool aggregate_first =
        aggregate_should_be_first(result, pair, constant[at(x)], needs_gradient[at(x)]);
    if (aggregate_first != pair.product_first) continue;
    const std::int64_t inner = aggregate_first ? result.cols(x) : result.parameter(pair.linear->weight).cols;
    std::swap(pair.first->kind, pair.second->kind);
    result.values[at(pair.first->output)].cols = inner;
  }
  return result;
}

}  // namespace halo::nn
