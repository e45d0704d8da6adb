#include "halo/nn/program.hpp"

#include <fmt/format.h>

namespace halo::nn {
namespace {

const char* name_of(RowFactor factor) {
  switch (factor) {
    case RowFactor::kGcn:
      return "gcn";
    case RowFactor::kInverseDegree:
      return "1/degree";
    case RowFactor::kOne:
      break;
  }
  return "1";
}

struct Describe {
  std::string operator()(const op::Input&) const { return "input"; }
  std::string operator()(const op::Linear&) const { return "linear"; }
  std::string operator()(const op::LinearInputGradient&) const { return "linear_input_gradient"; }
  std::string operator()(const op::LinearWeightGradient&) const { return "linear_weight_gradient"; }
  std::string operator()(const op::AddBias&) const { return "add_bias"; }
  std::string operator()(const op::BiasGradient&) const { return "bias_gradient"; }
  std::string operator()(const op::Aggregate& aggregate) const {
    return aggregate.kind == Aggregation::kGcn ? "aggregate(gcn)" : "aggregate(mean)";
  }
  std::string operator()(const op::ScaleRows& scale) const {
    return fmt::format("scale_rows({})", name_of(scale.factor));
  }
  std::string operator()(const op::NeighbourSum& sum) const {
    return fmt::format("neighbour_sum({}, {}, {})", sum.direction == Direction::kIn ? "in" : "out",
                       sum.add_loop ? "loop" : "no loop", name_of(sum.after));
  }
  std::string operator()(const op::Relu&) const { return "relu"; }
  std::string operator()(const op::ReluGradient&) const { return "relu_gradient"; }
  std::string operator()(const op::Dropout& dropout) const { return fmt::format("dropout({})", dropout.p); }
  std::string operator()(const op::ReluDropout& dropout) const {
    return fmt::format("relu_dropout({})", dropout.p);
  }
  std::string operator()(const op::ReluDropoutGradient& dropout) const {
    return fmt::format("relu_dropout_gradient({})", dropout.p);
  }
  std::string operator()(const op::Add&) const { return "add"; }
  std::string operator()(const op::CrossEntropy&) const { return "cross_entropy"; }
  std::string operator()(const op::Score&) const { return "score"; }
};

}  // namespace

std::string describe(const Kind& kind) {
  return std::visit(Describe{}, kind);
}

ValueId Program::append(Kind kind, std::vector<ValueId> inputs, std::int64_t cols) {
  values.push_back({.cols = cols});
  const auto output = static_cast<ValueId>(values.size()) - 1;
  operations.push_back({.kind = kind, .inputs = std::move(inputs), .output = output});
  return output;
}

void Program::append(Kind kind, std::vector<ValueId> inputs) {
  operations.push_back({.kind = kind, .inputs = std::move(inputs), .output = kNone});
}

ParameterId Program::add_parameter(std::string name, std::int64_t rows, std::int64_t cols, int layer,
                                   bool is_bias) {
  parameters.push_back({.name = std::move(name),
                        .rows = rows,
                        .cols = cols,
                        .offset = parameter_count(),
                        .layer = layer,
                        .is_bias = is_bias});
  return static_cast<ParameterId>(parameters.size()) - 1;
}

std::int64_t Program::parameter_count() const {
  return parameters.empty() ? 0 : parameters.back().offset + parameters.back().size();
}

ValueId Program::input(std::int64_t cols) {
  return append(op::Input{}, {}, cols);
}

ValueId Program::linear(ValueId x, ParameterId weight, ParameterId bias) {
  return append(op::Linear{.weight = weight, .bias = bias}, {x}, parameter(weight).cols);
}

ValueId Program::add_bias(ValueId x, ParameterId bias) {
  return append(op::AddBias{.bias = bias}, {x}, cols(x));
}

ValueId Program::aggregate(ValueId x, Aggregation kind) {
  return append(op::Aggregate{.kind = kind}, {x}, cols(x));
}

ValueId Program::relu(ValueId x) {
  return append(op::Relu{}, {x}, cols(x));
}

ValueId Program::dropout(ValueId x, double p, std::uint64_t stream) {
  return p > 0.0 ? append(op::Dropout{.p = p, .stream = stream}, {x}, cols(x)) : x;
}

ValueId Program::add(ValueId a, ValueId b) {
  return append(op::Add{}, {a, b}, cols(a));
}

std::string to_text(const Program& program) {
  std::string text;
  for (const Operation& operation : program.operations) {
    if (operation.output != kNone)
      text += fmt::format("v{}[{}] = ", operation.output, program.cols(operation.output));
    text += describe(operation.kind);
    for (const ValueId input : operation.inputs) text += fmt::format(" v{}", input);
    text += "\n";
  }
  return text;
}

}  // namespace halo::nn
