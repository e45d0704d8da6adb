#pragma once

#include <filesystem>

#include "session.hpp"

namespace halo::train {

/// Collective. What the last evaluation says of every node, as a .npy file in the user's order: int32 [N] the
/// class, int32 [N x C] the classes with an output above 0 (multi-label), float32 [N x C] the outputs
/// (regression), float32 [N x hidden] the output of the encoder (link prediction; the scores of the held-out
/// links go beside it, see LinkPrediction::write_scores).
void write_predictions(Session& session, const std::filesystem::path& path);

}  // namespace halo::train
