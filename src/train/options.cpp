#include "halo/train/options.hpp"

#include <cmath>

#include "halo/base/error.hpp"
#include "halo/train/feature_scaling.hpp"

namespace halo::train {
namespace {

void check(bool good, const char* option, const std::string& found, const char* expected) {
  if (good) return;
  throw InputError({.what = "training option out of range",
                    .where = option,
                    .found = found,
                    .expected = expected,
                    .next = ""});
}

void check_at_least(std::int64_t least, const char* option, std::int64_t found, const char* expected) {
  check(found >= least, option, std::to_string(found), expected);
}

}  // namespace

Selection parse_selection(const std::string& text) {
  if (text == "val_loss") return Selection::kLoss;
  if (text == "val_metric") return Selection::kMetric;
  check(text == "val_both", "--select", text, "val_loss, val_metric or val_both");
  return Selection::kBoth;
}

void check_options(const TrainOptions& options) {
  choose_scaling(options.row_normalise, options.row_normalise_l2, options.standardise);
  check_at_least(1, "--epochs", options.epochs, "at least 1");
  check_at_least(1, "--evaluate-every", options.evaluate_every, "at least 1");
  check_at_least(0, "--patience", options.patience, "0 (never stop early) or more");
  check_at_least(1, "--runs", options.runs, "at least 1");
  check_at_least(0, "--checkpoint-every", options.checkpoint_every, "0 (on a signal only) or more");
  check_at_least(1, "--keep-checkpoints", options.keep_checkpoints, "at least 1");
  check(options.dense_weight_decay < 0.0 || options.optimizer.weight_decay > 0.0, "--dense-weight-decay",
        std::to_string(options.dense_weight_decay), "a --weight-decay above 0 beside it");
  check(std::isfinite(options.clip_norm) && options.clip_norm >= 0.0, "--clip-norm",
        std::to_string(options.clip_norm), "0 (no clipping) or above");
  check(options.threads >= 0 && options.threads <= 4096, "--threads", std::to_string(options.threads),
        "0 (automatic) to 4096");
  check(options.checkpoint_every == 0 || !options.out.empty(), "--checkpoint-every",
        std::to_string(options.checkpoint_every), "0 where no --out says where checkpoints go");
  optim::make_optimizer<float>(options.optimizer, 0, {});
  optim::LearningRateSchedule(options.schedule, options.optimizer.learning_rate);
}

}  // namespace halo::train
