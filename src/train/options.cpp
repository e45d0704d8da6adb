#include "halo/train/options.hpp"

#include <fmt/format.h>

#include "halo/base/error.hpp"

namespace halo::train {

nlohmann::json to_json(const TrainOptions& options) {
  return {{"partition", options.partition.string()},
          {"out", options.out.string()},
          {"model", options.model.model},
          {"layers", options.model.layers},
          {"hidden", options.model.hidden},
          {"dropout", options.model.dropout},
          {"input_dropout", options.model.input_dropout},
          {"row_normalise", options.row_normalise},
          {"optimizer", options.optimizer.name},
          {"lr", options.optimizer.learning_rate},
          {"weight_decay", options.optimizer.weight_decay},
          {"weight_decay_on", options.decay_first_layer_only ? "first" : "all"},
          {"epochs", options.epochs},
          {"evaluate_every", options.evaluate_every},
          {"patience", options.patience},
          {"seed", options.seed},
          {"threads", options.threads},
          {"transport", dist::to_string(options.transport)}};
}

void check_options(const TrainOptions& options) {
  const auto check = [](bool good, const char* option, std::int64_t found, const char* expected) {
    if (good) return;
    throw InputError({.what = "training option out of range",
                      .where = option,
                      .found = std::to_string(found),
                      .expected = expected,
                      .next = ""});
  };
  check(options.epochs >= 1, "--epochs", options.epochs, "at least 1");
  check(options.evaluate_every >= 1, "--evaluate-every", options.evaluate_every, "at least 1");
  check(options.patience >= 0, "--patience", options.patience, "0 (never stop early) or more");
  check(options.threads >= 0 && options.threads <= 4096, "--threads", options.threads,
        "0 (automatic) to 4096");
}

}  // namespace halo::train
