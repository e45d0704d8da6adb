#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "halo/base/matrix_view.hpp"
#include "session.hpp"

namespace halo::train {

// The files that together hold a model: weights.safetensors and, where nodes have learnt rows, embedding.npy
// beside it.

inline constexpr const char* kWeightsFile = "weights.safetensors";

/// Collective. Reads `weights` into the flat parameters and the file beside it into this rank's rows, [owned x
/// embedding_cols]; without such columns (0) it is not read. InputError, the same on every rank, on files of
/// another model.
void load_model(const Session& session, const std::filesystem::path& weights, std::span<float> parameters,
                std::int64_t embedding_cols, std::span<float> embedding);

/// Collective. Writes the model's files into a folder that is there, the weights last.
void write_model(const Session& session, const std::filesystem::path& folder,
                 std::span<const float> parameters, MatrixView<const float> embedding);

// A run that began with given weights keeps them in its folder, so that it can be resumed without their file.

/// Collective. Keeps what a new run begins with.
void keep_initial_model(const Session& session, const std::filesystem::path& run,
                        std::span<const float> parameters, MatrixView<const float> embedding);

/// Collective. The weights that the run began with; `given` where it has kept none yet.
std::filesystem::path initial_weights_of(const mpi::Communicator& communicator,
                                         const std::filesystem::path& run,
                                         const std::filesystem::path& given);

}  // namespace halo::train
