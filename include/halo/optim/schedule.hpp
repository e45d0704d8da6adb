#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halo::optim {

struct ScheduleOptions {
  std::string name = "constant";       ///< constant, step, cosine or plateau
  std::int64_t warmup_epochs = 0;      ///< W: epochs of linear warm-up before the schedule begins
  std::int64_t step_size = 100;        ///< step: epochs between reductions
  double gamma = 0.5;                  ///< step: factor of each reduction
  double min_learning_rate = 0.0;      ///< cosine: where it ends; plateau: never below
  std::int64_t plateau_patience = 10;  ///< plateau: observations without improvement that are borne
  double plateau_factor = 0.5;         ///< plateau: factor of each reduction
  std::int64_t epochs = 200;           ///< cosine: planned epochs of the run, warm-up included
};

/// The learning rate of every epoch. With W warm-up epochs, epoch e = 1 .. W runs at e / W of what the
/// schedule begins with, so epoch W at the full rate; the schedule counts t = e - W - 1, so epoch W + 1 is
/// its t = 0, again at the full rate.
///   constant  lr
///   step      lr gamma^floor(t / step_size)                         (torch StepLR)
///   cosine    min + (lr - min) (1 + cos(pi t / T)) / 2, T = epochs - W; min from t = T on
///             (CosineAnnealingLR)
///   plateau   after more than plateau_patience observations in a row none of which is below (1 - 1e-4)
///             times the lowest, the rate is multiplied by plateau_factor and counting starts again;
///             reductions of 1e-8 or less are left out (ReduceLROnPlateau, mode min). Observations made
///             during warm-up count.
class LearningRateSchedule {
 public:
  /// InputError on an unknown name or numbers out of range. `learning_rate`: the full rate, above 0.
  LearningRateSchedule(const ScheduleOptions& options, double learning_rate);

  /// Of `epoch`, counted from 1.
  double learning_rate(std::int64_t epoch) const;
  /// After each evaluation; only plateau listens. A loss that is not finite is no improvement.
  void observe(double validation_loss);

  /// What a checkpoint has to keep: finite numbers, of the same count for every schedule.
  std::vector<double> state() const;
  /// Error if `state` is not one that state() returns.
  void set_state(std::span<const double> state);

 private:
  double scheduled(std::int64_t t) const;

  ScheduleOptions options_;
  double full_rate_;
  double plateau_rate_;    ///< full_rate_ and the reductions so far
  bool observed_ = false;  ///< lowest_ is a loss
  double lowest_ = 0.0;
  std::int64_t without_improvement_ = 0;
};

}  // namespace halo::optim
