#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "halo/dist/load_partition.hpp"
#include "halo/mpi/communicator.hpp"

namespace halo::train {

/// Name of the learnt rows in a run folder, beside weights.safetensors: float32 [N x cols] in the user's
/// order.
inline constexpr const char* kEmbeddingFile = "embedding.npy";

/// Collective. Reads the rows of this rank's nodes, [owned x cols], piece by piece. InputError, the same on
/// every rank, on a file that is not there or of another shape.
void read_embedding(const mpi::Communicator& communicator, const std::filesystem::path& file,
                    const dist::LocalPartition& partition, std::int64_t cols, std::span<float> rows);

}  // namespace halo::train
