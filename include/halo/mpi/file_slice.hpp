#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

#include "halo/mpi/communicator.hpp"

namespace halo::mpi {

/// Collective. All ranks read one file together (MPI_File_read_at_all), each its own slice: fills `bytes`
/// from `offset` on. An empty slice takes part. Then runs `check`, which may throw on what was read. A rank
/// that cannot read its slice, or whose check throws, makes every rank throw the same error; InputError,
/// naming the rank, the file and the offset, where the file cannot be opened, is cut, or cannot be read.
void read_slice(const Communicator& communicator, const std::filesystem::path& path, std::int64_t offset,
                std::span<std::byte> bytes, const std::function<void()>& check = {});

}  // namespace halo::mpi
