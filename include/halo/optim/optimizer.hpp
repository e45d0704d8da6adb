#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halo::optim {

struct OptimizerOptions {
  std::string name = "adam";  ///< adam, adamw or sgd
  double learning_rate = 0.01;
  double weight_decay =
      0.0;                ///< adam, sgd: added to the gradient as weight_decay * parameter; adamw: decoupled
  double beta1 = 0.9;     ///< adam, adamw
  double beta2 = 0.999;   ///< adam, adamw
  double epsilon = 1e-8;  ///< adam, adamw
  double momentum = 0.0;  ///< sgd
  bool nesterov = false;  ///< sgd with momentum
};

/// Elements [begin, end) of the flat parameter buffer.
struct FlatRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  double factor = 1.0;  ///< weight decay here, in units of OptimizerOptions::weight_decay
};

/// An array that a checkpoint has to keep: what the optimiser remembers, one number per parameter.
template <typename Real>
struct StateArray {
  std::string name;
  std::span<Real> values;
};

/// Updates one flat parameter buffer from one flat gradient. Every rank runs it on the same numbers and so
/// gets the same bits; what it keeps is one number per parameter and moment.
template <typename Real>
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// parameters -= update(gradient). Touches the leading `size` elements (the size given when made); what
  /// follows them in `parameters` and `gradient` are buffers that are not trained.
  virtual void step(std::span<Real> parameters, std::span<const Real> gradient, double learning_rate) = 0;
  /// Views of what is remembered between steps, to be saved and written over; zero before the first step.
  virtual std::vector<StateArray<Real>> state() = 0;

  /// Steps made so far: with state() all that a resumed optimiser needs.
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

 protected:
  std::int64_t steps_ = 0;
};

/// `decayed`: the ranges that weight decay applies to, apart from each other and within `size`. InputError on
/// an unknown name or numbers out of range. With p the parameter, g its gradient, w its weight decay:
///   sgd    g += w p; m = momentum m + g; p -= lr m, with Nesterov p -= lr (g + momentum m)
///   adam   g += w p; m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2;
///          p -= lr m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + epsilon)      (Kingma, Ba 2015, algorithm 1)
///   adamw  p -= lr w p, then as adam without w                            (Loshchilov, Hutter 2019)
/// as torch.optim.SGD, Adam and AdamW.
template <typename Real>
std::unique_ptr<Optimizer<Real>> make_optimizer(const OptimizerOptions& options, std::int64_t size,
                                                const std::vector<FlatRange>& decayed);

}  // namespace halo::optim
