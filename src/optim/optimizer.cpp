#include "halo/optim/optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "check_option.hpp"
#include "halo/base/error.hpp"

namespace halo::optim {
namespace {

/// Elements [begin, end) with one weight decay.
template <typename Real>
struct Segment {
  std::size_t begin;
  std::size_t end;
  Real decay;
};

/// Cuts [0, size) where weight decay changes: few segments stand for one number per parameter.
template <typename Real>
std::vector<Segment<Real>> cut_by_decay(std::int64_t size, double weight_decay,
                                        std::vector<FlatRange> decayed) {
  std::sort(decayed.begin(), decayed.end(),
            [](const FlatRange& a, const FlatRange& b) { return a.begin < b.begin; });
  std::vector<Segment<Real>> segments;
  std::int64_t reached = 0;
  const auto append = [&](std::int64_t end, double decay) {
    if (end > reached) {
      segments.push_back({.begin = static_cast<std::size_t>(reached),
                          .end = static_cast<std::size_t>(end),
                          .decay = static_cast<Real>(decay)});
    }
    reached = end;
  };
  for (const FlatRange& range : decayed) {
    if (range.begin < reached || range.end < range.begin || range.end > size) {
      throw Error(fmt::format("weight decay on [{}, {}): overlaps another range or leaves [0, {})",
                              range.begin, range.end, size));
    }
    append(range.begin, 0.0);
    append(range.end, weight_decay * range.factor);
  }
  append(size, 0.0);
  return segments;
}

template <typename Real>
class Sgd final : public Optimizer<Real> {
 public:
  Sgd(const OptimizerOptions& options, std::int64_t size, const std::vector<FlatRange>& decayed)
      : segments_(cut_by_decay<Real>(size, options.weight_decay, decayed)),
        momentum_(static_cast<Real>(options.momentum)),
        nesterov_(options.nesterov),
        velocity_(options.momentum > 0.0 ? static_cast<std::size_t>(size) : 0, Real{0}) {}

  void step(std::span<Real> parameters, std::span<const Real> gradient, double learning_rate) override {
    ++this->steps_;
    const auto rate = static_cast<Real>(learning_rate);
    for (const Segment<Real>& segment : segments_) {
      for (std::size_t i = segment.begin; i < segment.end; ++i) {
        parameters[i] -= rate * direction(gradient[i] + segment.decay * parameters[i], i);
      }
    }
  }

  std::vector<StateArray<Real>> state() override {
    if (velocity_.empty()) return {};
    return {{.name = "velocity", .values = velocity_}};
  }

 private:
  Real direction(Real g, std::size_t i) {
    if (velocity_.empty()) return g;
    velocity_[i] = momentum_ * velocity_[i] + g;
    return nesterov_ ? g + momentum_ * velocity_[i] : velocity_[i];
  }

  std::vector<Segment<Real>> segments_;
  Real momentum_;
  bool nesterov_;
  std::vector<Real> velocity_;  ///< empty without momentum
};

/// Adam and AdamW, which differ in where weight decay enters.
template <typename Real>
class Adam final : public Optimizer<Real> {
 public:
  Adam(const OptimizerOptions& options, std::int64_t size, const std::vector<FlatRange>& decayed)
      : options_(options),
        segments_(cut_by_decay<Real>(size, options.weight_decay, decayed)),
        mean_(static_cast<std::size_t>(size), Real{0}),
        square_(static_cast<std::size_t>(size), Real{0}) {}

  void step(std::span<Real> parameters, std::span<const Real> gradient, double learning_rate) override {
    ++this->steps_;
    const auto steps = static_cast<double>(this->steps_);
    const double mean_correction = 1.0 - std::pow(options_.beta1, steps);
    const double square_correction = 1.0 - std::pow(options_.beta2, steps);
    const auto rate = static_cast<Real>(learning_rate / mean_correction);
    const auto root_correction = static_cast<Real>(1.0 / std::sqrt(square_correction));
    const auto epsilon = static_cast<Real>(options_.epsilon);
    const auto beta1 = static_cast<Real>(options_.beta1);
    const auto beta2 = static_cast<Real>(options_.beta2);
    const auto rest1 = static_cast<Real>(1.0 - options_.beta1);
    const auto rest2 = static_cast<Real>(1.0 - options_.beta2);
    const bool decoupled = options_.name == "adamw";
    for (const Segment<Real>& segment : segments_) {
      const Real added = decoupled ? Real{0} : segment.decay;
      const Real kept =
          decoupled ? static_cast<Real>(1.0 - learning_rate * static_cast<double>(segment.decay)) : Real{1};
      for (std::size_t i = segment.begin; i < segment.end; ++i) {
        const Real g = gradient[i] + added * parameters[i];
        mean_[i] = beta1 * mean_[i] + rest1 * g;
        square_[i] = beta2 * square_[i] + rest2 * g * g;
        parameters[i] =
            kept * parameters[i] - rate * mean_[i] / (std::sqrt(square_[i]) * root_correction + epsilon);
      }
    }
  }

  std::vector<StateArray<Real>> state() override {
    return {{.name = "mean", .values = mean_}, {.name = "square", .values = square_}};
  }

 private:
  OptimizerOptions options_;
  std::vector<Segment<Real>> segments_;
  std::vector<Real> mean_;
  std::vector<Real> square_;
};

void check_options(const OptimizerOptions& options) {
  const auto fraction = [](double x) { return x >= 0.0 && x < 1.0; };
  check_option(options.learning_rate > 0.0, "--lr", options.learning_rate, "above 0");
  check_option(options.weight_decay >= 0.0, "--weight-decay", options.weight_decay, "0 or above");
  check_option(fraction(options.beta1), "--beta1", options.beta1, "0 or above and below 1");
  check_option(fraction(options.beta2), "--beta2", options.beta2, "0 or above and below 1");
  check_option(options.epsilon >= 0.0, "--epsilon", options.epsilon, "0 or above");
  check_option(options.momentum >= 0.0, "--momentum", options.momentum, "0 or above");
  if (options.nesterov && options.momentum == 0.0) {
    throw InputError({.what = "Nesterov's step needs momentum",
                      .where = "--nesterov",
                      .found = "--momentum 0",
                      .expected = "momentum above 0",
                      .next = "give --momentum, 0.9 say, or leave --nesterov out"});
  }
}

}  // namespace

template <typename Real>
std::unique_ptr<Optimizer<Real>> make_optimizer(const OptimizerOptions& options, std::int64_t size,
                                                const std::vector<FlatRange>& decayed) {
  check_options(options);
  if (options.name == "adam" || options.name == "adamw") {
    return std::make_unique<Adam<Real>>(options, size, decayed);
  }
  if (options.name == "sgd") return std::make_unique<Sgd<Real>>(options, size, decayed);
  throw InputError({.what = "unknown optimiser",
                    .where = "--optimizer",
                    .found = options.name,
                    .expected = "adam, adamw or sgd",
                    .next = ""});
}

template std::unique_ptr<Optimizer<float>> make_optimizer(const OptimizerOptions&, std::int64_t,
                                                          const std::vector<FlatRange>&);
template std::unique_ptr<Optimizer<double>> make_optimizer(const OptimizerOptions&, std::int64_t,
                                                           const std::vector<FlatRange>&);

}  // namespace halo::optim
