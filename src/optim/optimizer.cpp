#include "halo/optim/optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "halo/base/error.hpp"

namespace halo::optim {
namespace {

/// Weight decay of each element: `value` in the decayed ranges, 0 elsewhere.
template <typename Real>
std::vector<Real> decay_of_elements(std::int64_t size, double value, const std::vector<FlatRange>& decayed) {
  std::vector<Real> decay(static_cast<std::size_t>(size), Real{0});
  for (const FlatRange& range : decayed) {
    std::fill(decay.begin() + range.begin, decay.begin() + range.end, static_cast<Real>(value));
  }
  return decay;
}

template <typename Real>
class Sgd final : public Optimizer<Real> {
 public:
  Sgd(const OptimizerOptions& options, std::vector<Real> decay)
      : rate_(static_cast<Real>(options.learning_rate)), decay_(std::move(decay)) {}

  void step(std::span<Real> parameters, std::span<const Real> gradient) override {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      parameters[i] -= rate_ * (gradient[i] + decay_[i] * parameters[i]);
    }
  }

 private:
  Real rate_;
  std::vector<Real> decay_;
};

template <typename Real>
class Adam final : public Optimizer<Real> {
 public:
  Adam(const OptimizerOptions& options, std::vector<Real> decay)
      : options_(options),
        decay_(std::move(decay)),
        mean_(decay_.size(), Real{0}),
        square_(decay_.size(), Real{0}) {}

  void step(std::span<Real> parameters, std::span<const Real> gradient) override {
    ++steps_;
    const double mean_correction = 1.0 - std::pow(options_.beta1, steps_);
    const double square_correction = 1.0 - std::pow(options_.beta2, steps_);
    const auto rate = static_cast<Real>(options_.learning_rate / mean_correction);
    const auto root_correction = static_cast<Real>(1.0 / std::sqrt(square_correction));
    const auto epsilon = static_cast<Real>(options_.epsilon);
    const auto beta1 = static_cast<Real>(options_.beta1);
    const auto beta2 = static_cast<Real>(options_.beta2);
    const auto rest1 = static_cast<Real>(1.0 - options_.beta1);
    const auto rest2 = static_cast<Real>(1.0 - options_.beta2);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Real g = gradient[i] + decay_[i] * parameters[i];
      mean_[i] = beta1 * mean_[i] + rest1 * g;
      square_[i] = beta2 * square_[i] + rest2 * g * g;
      parameters[i] -= rate * mean_[i] / (std::sqrt(square_[i]) * root_correction + epsilon);
    }
  }

 private:
  OptimizerOptions options_;
  std::vector<Real> decay_;
  std::vector<Real> mean_;
  std::vector<Real> square_;
  double steps_ = 0.0;
};

void check(bool good, const char* option, double found, const char* expected) {
  if (good) return;
  throw InputError({.what = "optimiser option out of range",
                    .where = option,
                    .found = fmt::format("{}", found),
                    .expected = expected,
                    .next = ""});
}

}  // namespace

template <typename Real>
std::unique_ptr<Optimizer<Real>> make_optimizer(const OptimizerOptions& options, std::int64_t size,
                                                const std::vector<FlatRange>& decayed) {
  check(std::isfinite(options.learning_rate) && options.learning_rate > 0.0, "--lr", options.learning_rate,
        "above 0");
  check(std::isfinite(options.weight_decay) && options.weight_decay >= 0.0, "--weight-decay",
        options.weight_decay, "0 or above");
  auto decay = decay_of_elements<Real>(size, options.weight_decay, decayed);
  if (options.name == "adam") return std::make_unique<Adam<Real>>(options, std::move(decay));
  if (options.name == "sgd") return std::make_unique<Sgd<Real>>(options, std::move(decay));
  throw InputError({.what = "unknown optimiser",
                    .where = "--optimizer",
                    .found = options.name,
                    .expected = "adam or sgd",
                    .next = ""});
}

template std::unique_ptr<Optimizer<float>> make_optimizer(const OptimizerOptions&, std::int64_t,
                                                          const std::vector<FlatRange>&);
template std::unique_ptr<Optimizer<double>> make_optimizer(const OptimizerOptions&, std::int64_t,
                                                           const std::vector<FlatRange>&);

}  // namespace halo::optim
