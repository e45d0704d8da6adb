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

/// A learnt matrix; all parameters lie in one flat buffer, row-major, in the order of their ids.
struct Parameter {
  std::string name;       ///< "layers.0.weight"
  std::int64_t rows = 0;  ///< 1 for a bias
  std::int64_t cols = 0;
  std::int64_t offset = 0;  ///< first element in the flat buffer
  int layer = 0;
  bool is_bias = false;

  std::int64_t size() const { return rows * cols; }
};

/// A model as a static list of operations on values. A model builder appends; passes (passes.hpp) rewrite;
/// nothing runs here.
class Program {
 public:
  std::vector<Value> values;
  std::vector<Parameter> parameters;
  std::vector<Operation> operations;
  ValueId logits = kNone;  ///< the model's output

  /// Appends an operation with a new output value of `cols` columns.
  ValueId append(Kind kind, std::vector<ValueId> inputs, std::int64_t cols);
  /// Appends an operation without output.
  void append(Kind kind, std::vector<ValueId> inputs);
  ParameterId add_parameter(std::string name, std::int64_t rows, std::int64_t cols, int layer, bool is_bias);

  std::int64_t cols(ValueId value) const { return values[static_cast<std::size_t>(value)].cols; }
  const Parameter& parameter(ParameterId id) const { return parameters[static_cast<std::size_t>(id)]; }
  /// Number of learnt scalars.
  std::int64_t parameter_count() const;

  // Shorthands of the model builders.
  ValueId input(std::int64_t cols);
  ValueId linear(ValueId x, ParameterId weight, ParameterId bias = kNone);
  ValueId add_bias(ValueId x, ParameterId bias);
  ValueId aggregate(ValueId x, Aggregation kind);
  ValueId relu(ValueId x);
  ValueId dropout(ValueId x, double p, std::uint64_t stream);
  ValueId add(ValueId a, ValueId b);
};

/// One line per operation, "v4[256] = linear v3 layers.0.weight"; for logs and tests.
std::string to_text(const Program& program);

}  // namespace halo::nn
