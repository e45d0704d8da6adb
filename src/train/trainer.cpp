#include "halo/train/trainer.hpp"

#include <optional>

#include "halo/base/log.hpp"
#include "halo/train/run_folder.hpp"
#include "resume.hpp"
#include "run_trace.hpp"
#include "seed_run.hpp"
#include "session.hpp"
#include "several_seeds.hpp"
#include "stop_signals.hpp"

namespace halo::train {

TrainOutcome train(const mpi::Communicator& communicator, const TrainOptions& options,
                   const OptionRecord& record, const TrainReport& report) {
  communicator.agree([&] {
    check_options(options);
    if (communicator.rank() != 0) return;
    if (!options.out.empty() && !options.resume) check_run_path(options.out);
    if (!options.trace.empty()) check_trace_path(options.trace, options.out);
  });
  if (options.resume) {
    nlohmann::json summary = finished_summary(communicator, options, record);
    if (!summary.is_null()) {
      if (communicator.rank() == 0 && !options.trace.empty()) {
        spdlog::warn("no trace: {} is finished, so no epoch is run", options.out.string());
      }
      return {.was_finished = true, .stopped_by_signal = false, .epoch = 0, .summary = std::move(summary)};
    }
  }
  Session session(communicator, options);
  std::optional<StopSignals> signals;  // without a folder there is nothing to save: they end the process
  if (!options.out.empty()) signals.emplace();
  TrainOutcome outcome = options.runs > 1 ? train_several(session, options, record, report)
                                          : SeedRun(session, options, record, report).go();
  if (session.trace() != nullptr) write_trace(communicator, options.trace, *session.trace());
  return outcome;
}

}  // namespace halo::train
