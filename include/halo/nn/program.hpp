#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halo/base/ids.hpp"
#include "halo/nn/operations.hpp"

namespace halo::nn {

/// A matrix with one row for each owned node (halo rows behind them where it is gathered).
struct Value {
  std::int64_t cols = 0;
};

/// How a parameter starts: uniform in value +- bound.
struct Initial {
  double value = 0.0;
  double bound = 0.0;
};

/// A matrix of the model. All lie in one flat buffer, row-major: the learnt ones first, in the order they
/// were added, then what training tracks without learning it (running statistics).
struct Parameter {
  std::string name;       ///< as the module of the field's Python library names it: "convs.0.lin.weight"
  std::int64_t rows = 0;  ///< 1 for a vector
  std::int64_t cols = 0;
  std::int64_t offset = 0;  ///< first element in the flat buffer; moves while parameters are added
  int layer = 0;
  bool learnt = true;
  Initial initial{};
  std::vector<std::int64_t> file_shape{};  ///< in a weights file
  bool transpose_in_file = false;          ///< there [cols x rows], as torch.nn.Linear keeps it

  std::int64_t size() const { return rows * cols; }
};

/// Sums over all rows of all ranks that operations of the same epoch read, `size` of them. Terms enter
/// exactly times `scale`, a power of two that keeps them within the accumulator's range.
struct Reduction {
  std::int64_t size = 0;
  double scale = 1.0;
};

/// A model as a static list of operations on values. A model builder appends; passes (passes.hpp) rewrite;
/// nothing runs here.
class Program {
 public:
  std::vector<Value> values;
  std::vector<Parameter> parameters;
  std::vector<Reduction> reductions;
  std::vector<Operation> operations;
  ValueId logits = kNone;              ///< the model's output
  std::vector<ValueId> layer_outputs;  ///< output of each hidden layer
  bool external_loss = false;          ///< a RowLoss judges the output, not the dataset's labels
  bool half_rows = false;              ///< rows that outlive a stage are stored at half width

  /// Appends an operation with a new output value of `cols` columns.
  ValueId append(Kind kind, std::vector<ValueId> inputs, std::int64_t cols);
  /// Appends an operation without output.
  void append(Kind kind, std::vector<ValueId> inputs);
  ParameterId add_parameter(Parameter parameter);
  /// Glorot uniform (Glorot, Bengio 2010: bound sqrt(6 / (rows + cols))); transposed in files.
  ParameterId add_weight(std::string name, std::int64_t rows, std::int64_t cols, int layer);
  /// A learnt vector that starts at `value` everywhere.
  ParameterId add_vector(std::string name, std::int64_t cols, int layer, double value = 0.0);
  ReductionId add_reduction(std::int64_t size, double scale);

  std::int64_t cols(ValueId value) const { return values[static_cast<std::size_t>(value)].cols; }
  const Parameter& parameter(ParameterId id) const { return parameters[static_cast<std::size_t>(id)]; }
  /// Number of scalars of the flat buffer.
  std::int64_t parameter_count() const;
  /// Number of learnt ones: the leading part of the flat buffer.
  std::int64_t learnt_count() const;

  // Shorthands of the model builders.
  ValueId input(std::int64_t cols);
  ValueId linear(ValueId x, ParameterId weight, ParameterId bias = kNone);
  ValueId add_bias(ValueId x, ParameterId bias);
  ValueId aggregate(ValueId x, Aggregation kind);
  ValueId relu(ValueId x);
  ValueId dropout(ValueId x, double p, std::uint64_t stream);
  ValueId add(ValueId a, ValueId b);
  ValueId combine(double alpha, ValueId a, double beta, ValueId b);
  ValueId concat(std::vector<ValueId> parts);
  ValueId maximum(std::vector<ValueId> parts);
  ValueId activation(ValueId x, ActivationKind kind, double slope = 0.01);
  ValueId head_mean(ValueId x, int heads);
  ValueId l2_norm(ValueId x);
  ValueId layer_norm(ValueId x, ParameterId weight, ParameterId bias);
  /// With its statistics; `norm` names the parameters, its `sums` are made here.
  ValueId batch_norm(ValueId x, op::BatchNorm norm);

 private:
  void lay_out_parameters();
};

/// One line per operation, "v4[256] = linear v3 layers.0.weight"; for logs and tests.
std::string to_text(const Program& program);

}  // namespace halo::nn
