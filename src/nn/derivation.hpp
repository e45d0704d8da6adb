#pragma once

#include <map>
#include <optional>
#include <vector>

#include "halo/nn/program.hpp"

namespace halo::nn {

/// What the derivative rules of the operations (src/nn/ops/) write to: a program that grows by gradient
/// operations.
class Derivation {
 public:
  explicit Derivation(Program program);

  /// True if the gradient of a value has to be known for some parameter.
  bool wanted(ValueId value) const { return wanted_[static_cast<std::size_t>(value)]; }
  /// Appends an operation; returns its value.
  ValueId emit(Kind kind, std::vector<ValueId> inputs, std::int64_t cols);
  void emit(Kind kind, std::vector<ValueId> inputs) { program_.append(std::move(kind), std::move(inputs)); }
  /// Puts `kind` in the place of a forward operation, one that keeps more for the gradient: of its `cols`
  /// columns the first are the result as it was. Returns the wide value.
  ValueId widen(const Operation& forward, Kind kind, std::int64_t cols);
  /// Says that `gradient` is one term of the gradient of `value`.
  void contribute(ValueId value, ValueId gradient) { terms_[value].push_back(gradient); }
  /// Sum of all terms for a value, appended where there are several; nothing if there are none.
  std::optional<ValueId> gradient_of(ValueId value);

  /// The forward operation that makes a value, if one operation alone reads it; else null.
  const Operation* sole_producer(ValueId value) const;

  ReductionId add_reduction(std::int64_t size) { return program_.add_reduction(size, 1.0); }

  const Program& program() const { return program_; }
  Program take() { return std::move(program_); }

 private:
  Program program_;
  std::vector<bool> wanted_;
  std::vector<Operation> forward_;
  std::vector<std::int32_t> producers_;  ///< per value of the forward program, position in it
  std::vector<int> uses_;
  std::map<ValueId, std::vector<ValueId>> terms_;
};

/// A^T (f dy) for the sum f A over neighbours: what the gradient of its input is to that of its output.
ValueId emit_transposed_sum(const op::NeighbourSum& sum, ValueId dy, Derivation& derivation);

// Derivative rules: given the gradient dy of the operation's output, contribute to its inputs and emit
// parameter gradients. Each stands beside its operation in src/nn/ops/.
void derive(const op::Embedding&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::Linear&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::AddBias&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::ScaleRows&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::NeighbourSum&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::Relu&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::Activation&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::Dropout&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::ReluDropout&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::Add&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::Combine&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::Scale&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::AddScaled&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::Concat&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::Maximum&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::HeadMean&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::L2Norm&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::LayerNorm&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::BatchNorm&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::AttentionScores&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::AttentionSum&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::AttentionV2Sum&, const Operation& forward, ValueId dy, Derivation& derivation);
void derive(const op::NeighbourMax&, const Operation& forward, ValueId dy, Derivation& derivation);

}  // namespace halo::nn
