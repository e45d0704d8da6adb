#include "halo/optim/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "check_option.hpp"
#include "halo/base/error.hpp"

namespace halo::optim {
namespace {

constexpr double kThreshold = 1e-4;          // an improvement is more than this part of the lowest loss
constexpr double kSmallestReduction = 1e-8;  // both as torch's defaults
constexpr std::size_t kStateSize = 4;

void check_options(const ScheduleOptions& options, double learning_rate) {
  constexpr std::array kNames = {"constant", "step", "cosine", "plateau"};
  if (std::find(kNames.begin(), kNames.end(), options.name) == kNames.end()) {
    throw InputError({.what = "unknown learning-rate schedule",
                      .where = "--schedule",
                      .found = options.name,
                      .expected = "constant, step, cosine or plateau",
                      .next = ""});
  }
  const auto integer = [](bool good, const char* option, std::int64_t found, const char* expected) {
    check_option(good, option, static_cast<double>(found), expected);
  };
  check_option(learning_rate > 0.0, "--lr", learning_rate, "above 0");
  integer(options.warmup_epochs >= 0, "--warmup-epochs", options.warmup_epochs, "0 or above");
  integer(options.step_size >= 1, "--step-size", options.step_size, "at least 1");
  check_option(options.gamma > 0.0 && options.gamma <= 1.0, "--gamma", options.gamma, "above 0, at most 1");
  check_option(options.min_learning_rate >= 0.0 && options.min_learning_rate <= learning_rate, "--min-lr",
               options.min_learning_rate, "0 to the learning rate");
  integer(options.plateau_patience >= 0, "--plateau-patience", options.plateau_patience, "0 or above");
  check_option(options.plateau_factor > 0.0 && options.plateau_factor < 1.0, "--plateau-factor",
               options.plateau_factor, "above 0, below 1");
}

}  // namespace

LearningRateSchedule::LearningRateSchedule(const ScheduleOptions& options, double learning_rate)
    : options_(options), full_rate_(learning_rate), plateau_rate_(learning_rate) {
  check_options(options, learning_rate);
}

double LearningRateSchedule::learning_rate(std::int64_t epoch) const {
  const std::int64_t warmup = options_.warmup_epochs;
  if (epoch > warmup) return scheduled(epoch - warmup - 1);
  return scheduled(0) * static_cast<double>(epoch) / static_cast<double>(warmup);
}

double LearningRateSchedule::scheduled(std::int64_t t) const {
  if (options_.name == "step") {
    return full_rate_ * std::pow(options_.gamma, static_cast<double>(t / options_.step_size));
  }
  if (options_.name == "cosine") {
    const std::int64_t length = options_.epochs - options_.warmup_epochs;
    if (t >= length) return t == 0 ? full_rate_ : options_.min_learning_rate;
    const double angle = std::numbers::pi * static_cast<double>(t) / static_cast<double>(length);
    return options_.min_learning_rate +
           (full_rate_ - options_.min_learning_rate) * (1.0 + std::cos(angle)) / 2.0;
  }
  return options_.name == "plateau" ? plateau_rate_ : full_rate_;
}

void LearningRateSchedule::observe(double validation_loss) {
  if (options_.name != "plateau") return;
  const bool better =
      std::isfinite(validation_loss) && (!observed_ || validation_loss < lowest_ * (1.0 - kThreshold));
  if (better) {
    observed_ = true;
    lowest_ = validation_loss;
    without_improvement_ = 0;
    return;
  }
  if (++without_improvement_ <= options_.plateau_patience) return;
  without_improvement_ = 0;
  const double reduced = std::max(plateau_rate_ * options_.plateau_factor, options_.min_learning_rate);
  if (plateau_rate_ - reduced > kSmallestReduction) plateau_rate_ = reduced;
}

std::vector<double> LearningRateSchedule::state() const {
  return {plateau_rate_, observed_ ? 1.0 : 0.0, lowest_, static_cast<double>(without_improvement_)};
}

void LearningRateSchedule::set_state(std::span<const double> state) {
  const auto finite = [](double x) { return std::isfinite(x); };
  if (state.size() != kStateSize || !std::all_of(state.begin(), state.end(), finite)) {
    throw Error(
        fmt::format("not the state of a learning-rate schedule: {} numbers where {} finite ones belong",
                    state.size(), kStateSize));
  }
  plateau_rate_ = state[0];
  observed_ = state[1] != 0.0;
  lowest_ = state[2];
  without_improvement_ = static_cast<std::int64_t>(state[3]);
}

}  // namespace halo::optim
