#pragma once

#include <cstdint>
#include <optional>

#include "halo/base/timer.hpp"

namespace halo::train {

/// Figures of one epoch, as the user sees them go by.
struct EpochLine {
  std::int64_t epoch = 0;
  double train_loss = 0.0;
  std::optional<double> validation;  ///< the metric that counts
};

/// The progress line on stderr: rewritten in place on a terminal, a log line every few seconds otherwise.
class Progress {
 public:
  Progress(bool enabled, std::int64_t epochs);
  /// The next epoch is the one after `epochs_done`.
  void begin(std::int64_t epochs_done);
  void show(const EpochLine& line);
  /// Ends the rewritten line.
  void finish();

 private:
  bool enabled_;
  bool terminal_;
  std::int64_t epochs_;
  std::int64_t epochs_before_ = 0;
  Timer since_start_;
  Timer since_line_;
  bool shown_ = false;
};

}  // namespace halo::train
