#pragma once

#include <nlohmann/json.hpp>

#include "halo/mpi/communicator.hpp"
#include "halo/train/options.hpp"

namespace halo::train {

/// How a run reports while it goes on; rank 0 only.
struct TrainReport {
  bool progress = true;  ///< a line that is rewritten on a terminal, plain lines otherwise
};

/// Collective. Loads the partition, trains, writes the run folder (if options.out is set); returns the
/// summary, the same on every rank. Errors of input are InputError, thrown alike on every rank before
/// anything is written.
nlohmann::json train(const mpi::Communicator& communicator, const TrainOptions& options,
                     const TrainReport& report);

}  // namespace halo::train
