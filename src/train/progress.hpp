#pragma once

#include <cstdint>

#include "halo/base/timer.hpp"

namespace halo::train {

/// Figures of one epoch, as the user sees them go by.
struct EpochLine {
  std::int64_t epoch = 0;
  double train_loss = 0.0;
  double val_accuracy = 0.0;
  bool evaluated = false;
};

/// The progress line on stderr: rewritten in place on a terminal, a log line every few seconds otherwise.
class Progress {
 public:
  Progress(bool enabled, std::int64_t epochs);
  void show(const EpochLine& line);
  /// Ends the rewritten line.
  void finish();

 private:
  bool enabled_;
  bool terminal_;
  std::int64_t epochs_;
  Timer since_start_;
  Timer since_line_;
  bool shown_ = false;
};

}  // namespace halo::train
