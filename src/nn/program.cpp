#include "halo/nn/program.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <type_traits>

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

const char* name_of(Aggregation kind) {
  switch (kind) {
    case Aggregation::kGcn:
      return "gcn";
    case Aggregation::kMean:
      return "mean";
    case Aggregation::kSum:
      break;
  }
  return "sum";
}

}  // namespace

namespace op {

std::string Aggregate::details() const {
  return name_of(kind);
}
std::string ScaleRows::details() const {
  return fmt::format("{}{}", inverse ? "by inverse " : "", name_of(factor));
}
std::string NeighbourSum::details() const {
  return fmt::format("{}, {}, {}{}", direction == Direction::kIn ? "in" : "out",
                     add_loop ? "loop" : "no loop", name_of(after), half ? ", half" : "");
}
std::string Activation::details() const {
  return kind == ActivationKind::kElu ? "elu" : fmt::format("leaky relu {}", slope);
}
std::string Dropout::details() const {
  return fmt::format("{}", p);
}
std::string ReluDropout::details() const {
  return fmt::format("{}", p);
}
std::string ReluDropoutGradient::details() const {
  return fmt::format("{}", p);
}
std::string Combine::details() const {
  return fmt::format("{}, {}", alpha, beta);
}
std::string Scale::details() const {
  return fmt::format("{}", factor);
}
std::string Columns::details() const {
  return fmt::format("from {}", begin);
}

}  // namespace op

std::string describe(const Kind& kind) {
  return std::visit(
      [](const auto& k) -> std::string {
        using Op = std::decay_t<decltype(k)>;
        if constexpr (requires { k.details(); }) return fmt::format("{}({})", Op::kName, k.details());
        return Op::kName;
      },
      kind);
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

ParameterId Program::add_parameter(Parameter parameter) {
  parameters.push_back(std::move(parameter));
  lay_out_parameters();
  return static_cast<ParameterId>(parameters.size()) - 1;
}

ParameterId Program::add_weight(std::string name, std::int64_t rows, std::int64_t cols, int layer) {
  const double bound = std::sqrt(6.0 / static_cast<double>(rows + cols));
  return add_parameter({.name = std::move(name),
                        .rows = rows,
                        .cols = cols,
                        .layer = layer,
                        .initial = {.value = 0.0, .bound = bound},
                        .file_shape = {cols, rows},
                        .transpose_in_file = true});
}

ParameterId Program::add_vector(std::string name, std::int64_t cols, int layer, double value) {
  return add_parameter({.name = std::move(name),
                        .rows = 1,
                        .cols = cols,
                        .layer = layer,
                        .initial = {.value = value, .bound = 0.0},
                        .file_shape = {cols}});
}

ReductionId Program::add_reduction(std::int64_t size, double scale) {
  reductions.push_back({.size = size, .scale = scale});
  return static_cast<ReductionId>(reductions.size()) - 1;
}

void Program::lay_out_parameters() {
  std::int64_t offset = 0;
  for (const bool learnt : {true, false}) {
    for (Parameter& parameter : parameters) {
      if (parameter.learnt != learnt) continue;
      parameter.offset = offset;
      offset += parameter.size();
    }
  }
}

std::int64_t Program::parameter_count() const {
  return std::accumulate(parameters.begin(), parameters.end(), std::int64_t{0},
                         [](std::int64_t sum, const Parameter& p) { return sum + p.size(); });
}

std::int64_t Program::learnt_count() const {
  return std::accumulate(
      parameters.begin(), parameters.end(), std::int64_t{0},
      [](std::int64_t sum, const Parameter& p) { return p.learnt ? sum + p.size() : sum; });
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

ValueId Program::combine(double alpha, ValueId a, double beta, ValueId b) {
  return append(op::Combine{.alpha = alpha, .beta = beta}, {a, b}, cols(a));
}

ValueId Program::concat(std::vector<ValueId> parts) {
  const std::int64_t width =
      std::accumulate(parts.begin(), parts.end(), std::int64_t{0},
                      [&](std::int64_t sum, ValueId part) { return sum + cols(part); });
  return append(op::Concat{}, std::move(parts), width);
}

ValueId Program::maximum(std::vector<ValueId> parts) {
  const std::int64_t width = cols(parts.front());
  return append(op::Maximum{}, std::move(parts), width);
}

ValueId Program::activation(ValueId x, ActivationKind kind, double slope) {
  return append(op::Activation{.kind = kind, .slope = slope}, {x}, cols(x));
}

ValueId Program::head_mean(ValueId x, int heads) {
  return append(op::HeadMean{.heads = heads}, {x}, cols(x) / heads);
}

ValueId Program::l2_norm(ValueId x) {
  return append(op::L2Norm{}, {x}, cols(x));
}

ValueId Program::layer_norm(ValueId x, ParameterId weight, ParameterId bias) {
  return append(op::LayerNorm{.weight = weight, .bias = bias}, {x}, cols(x));
}

ValueId Program::batch_norm(ValueId x, op::BatchNorm norm) {
  // Squares of activations up to 2^26 over a group of rows stay within the range of exact sums.
  constexpr double kScale = 0x1.0p-32;
  norm.sums = add_reduction(2 * cols(x), kScale);
  append(op::BatchNormStatistics{.sums = norm.sums}, {x});
  return append(norm, {x}, cols(x));
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
