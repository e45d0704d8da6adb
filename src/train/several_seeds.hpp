#pragma once

#include "halo/train/trainer.hpp"
#include "session.hpp"

namespace halo::train {

/// Collective. options.runs runs with the seeds options.seed, options.seed + 1, ..., each a run folder
/// OUT/seed-<s> of its own; OUT/summary.json then holds, for every score, its mean, sample standard deviation
/// and the value of each seed. With options.resume, finished seeds are kept and the others continued.
TrainOutcome train_several(Session& session, const TrainOptions& options, const OptionRecord& record,
                           const TrainReport& report);

/// Of summaries of runs that differ in their seeds: {"runs", "seeds", "metric", name: {"mean", "std",
/// "values"}}.
nlohmann::json summarise_seeds(const std::vector<nlohmann::json>& summaries);

}  // namespace halo::train
