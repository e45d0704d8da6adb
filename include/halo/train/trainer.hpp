#pragma once

#include <nlohmann/json.hpp>

#include "halo/mpi/communicator.hpp"
#include "halo/train/option_record.hpp"
#include "halo/train/options.hpp"

namespace halo::train {

/// How a run reports while it goes on; rank 0 only.
struct TrainReport {
  bool progress = true;  ///< a line that is rewritten on a terminal, plain lines otherwise
};

/// How a job ended; the same on every rank.
struct TrainOutcome {
  bool was_finished = false;       ///< before: nothing was done
  bool stopped_by_signal = false;  ///< a checkpoint has been written to go on from
  std::int64_t epoch = 0;          ///< the last one done
  nlohmann::json summary;          ///< null if stopped by a signal
};

/// Collective. Loads the partition, trains, writes the run folder (if options.out is set). With
/// options.resume it continues the run in options.out, bit for bit as if it had not been interrupted, on any
/// number of ranks and threads; a finished run gives its summary again. With options.runs above 1 it trains
/// once for each seed in subfolders of its own, and the summary holds means and sample standard deviations.
/// With options.trace the events of all ranks are written to that file at the end, a stop by a signal included.
/// TERM, USR1 and INT stop a run that has a folder after its epoch with a checkpoint. `record` goes to the
/// run folder as it is. Errors of input are InputError, thrown alike on every rank before anything is
/// written.
TrainOutcome train(const mpi::Communicator& communicator, const TrainOptions& options,
                   const OptionRecord& record, const TrainReport& report);

}  // namespace halo::train
