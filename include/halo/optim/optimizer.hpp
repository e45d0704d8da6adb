#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halo::optim {

struct OptimizerOptions {
  std::string name = "adam";  ///< adam or sgd
  double learning_rate = 0.01;
  double weight_decay = 0.0;  ///< L2: added to the gradient as weight_decay * parameter
  double beta1 = 0.9;         ///< adam
  double beta2 = 0.999;       ///< adam
  double epsilon = 1e-8;      ///< adam
};

/// Elements [begin, end) of the flat parameter buffer.
struct FlatRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Updates one flat parameter buffer from one flat gradient. Every rank runs it on the same numbers and so
/// gets the same bits.
template <typename Real>
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// parameters -= update(gradient); both of the size given when made.
  virtual void step(std::span<Real> parameters, std::span<const Real> gradient) = 0;
};

/// `decayed`: the ranges that weight decay applies to. InputError on an unknown name or numbers out of range.
///   sgd   p -= lr (g + wd p)
///   adam  Kingma, Ba 2015, algorithm 1, with bias correction; g + wd p as gradient
template <typename Real>
std::unique_ptr<Optimizer<Real>> make_optimizer(const OptimizerOptions& options, std::int64_t size,
                                                const std::vector<FlatRange>& decayed);

}  // namespace halo::optim
