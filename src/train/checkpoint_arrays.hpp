#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "halo/train/checkpoint.hpp"

namespace halo::train {

/// XXH3-64 as 16 hex digits.
std::string checksum_text(std::uint64_t checksum);

/// Collective. Writes all arrays into `folder`, flushed; rank 0 the whole ones, each rank its rows of the
/// others. Returns their checksums by file name, the same on every rank.
nlohmann::json write_arrays(const mpi::Communicator& communicator, const std::filesystem::path& folder,
                            const CheckpointArrays& arrays, const NodeSlice& slice);

/// Collective. Reads them back on any number of ranks. Error where a file is not what `checksums` promise.
void read_arrays(const mpi::Communicator& communicator, const std::filesystem::path& folder,
                 const nlohmann::json& checksums, const CheckpointArrays& arrays, const NodeSlice& slice);

}  // namespace halo::train
