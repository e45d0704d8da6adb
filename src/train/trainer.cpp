#include "halo/train/trainer.hpp"

#include <optional>

#include "halo/train/run_folder.hpp"
#include "resume.hpp"
#include "seed_run.hpp"
#include "session.hpp"
#include "several_seeds.hpp"
#include "stop_signals.hpp"

namespace halo::train {

TrainOutcome train(const mpi::Communicator& communicator, const TrainOptions& options,
                   const OptionRecord& record, const TrainReport& report) {
  communicator.agree([&] {
    check_options(options);
    if (communicator.rank() == 0 && !options.out.empty() && !options.resume) check_run_path(options.out);
  });
  if (options.resume) {
    nlohmann::json summary = finished_summary(communicator, options, record);
    if (!summary.is_null()) {
      return {.was_finished = true, .stopped_by_signal = false, .epoch = 0, .summary = std::move(summary)};
    }
  }
  Session session(communicator, options);
  std::optional<StopSignals> signals;  // without a folder there is nothing to save: they end the process
  if (!options.out.empty()) signals.emplace();
  if (options.runs > 1) return train_several(session, options, record, report);
  return SeedRun(session, options, record, report).go();
}

}  // namespace halo::train
