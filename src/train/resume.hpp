#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "halo/mpi/communicator.hpp"
#include "halo/train/option_record.hpp"
#include "halo/train/options.hpp"

namespace halo::train {

/// Collective. Whether rank 0 sees a run in the folder.
bool run_is_there(const mpi::Communicator& communicator, const std::filesystem::path& folder);

/// Collective. Checks that the run in options.out may be continued with these options (InputError if there is
/// no run, or check_continues() refuses). Returns its summary if it is finished and nothing more is asked of
/// it (an early stop stays one with more epochs), else null.
nlohmann::json finished_summary(const mpi::Communicator& communicator, const TrainOptions& options,
                                const OptionRecord& record);

}  // namespace halo::train
