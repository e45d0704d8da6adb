#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "halo/base/log.hpp"

namespace halo::train {
namespace {

constexpr double kTerminalInterval = 0.1;  // seconds between lines
constexpr double kFileInterval = 10.0;

}  // namespace

Progress::Progress(bool enabled, std::int64_t epochs)
    : enabled_(enabled), terminal_(isatty(STDERR_FILENO) == 1), epochs_(epochs) {}

void Progress::begin(std::int64_t epochs_done) {
  epochs_before_ = epochs_done;
  since_start_.restart();
}

void Progress::show(const EpochLine& line) {
  if (!enabled_) return;
  const bool last = line.epoch == epochs_;
  if (shown_ && !last && since_line_.seconds() < (terminal_ ? kTerminalInterval : kFileInterval)) return;
  since_line_.restart();
  shown_ = true;
  const double left = since_start_.seconds() / static_cast<double>(line.epoch - epochs_before_) *
                      static_cast<double>(epochs_ - line.epoch);
  const std::string validation = line.validation ? fmt::format(", validation {:.4f}", *line.validation) : "";
  const std::string text = fmt::format("epoch {}/{}: loss {:.4f}{}, {:.0f} s left", line.epoch, epochs_,
                                       line.train_loss, validation, left);
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", text);
    std::fflush(stderr);
  } else {
    spdlog::info("{}", text);
  }
}

void Progress::finish() {
  if (enabled_ && terminal_ && shown_) fmt::print(stderr, "\n");
}

}  // namespace halo::train
