#pragma once

#include <cstdint>
#include <span>

#include "halo/base/matrix_view.hpp"
#include "halo/nn/operations.hpp"

namespace halo::nn {

/// What a program needs of the other ranks: the one gather, and one exact sum. All members are collective
/// except poke().
template <typename Real>
class Exchange {
 public:
  virtual ~Exchange() = default;
  /// Starts to fill the halo rows of x: [owned + halo of direction x d], those of at most `level`
  /// (halo/graph/row_levels.hpp).
  virtual void start(Direction direction, std::int8_t level, MatrixView<Real> x) = 0;
  virtual void poke() = 0;
  virtual void finish() = 0;
  /// values += the other ranks' values.
  virtual void sum(std::span<std::int64_t> values) = 0;
};

/// The exchange of a graph that one rank holds: there is nobody to ask.
template <typename Real>
class SoloExchange final : public Exchange<Real> {
 public:
  void start(Direction, std::int8_t, MatrixView<Real>) override {}
  void poke() override {}
  void finish() override {}
  void sum(std::span<std::int64_t>) override {}
};

}  // namespace halo::nn
