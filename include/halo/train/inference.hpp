#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "halo/mpi/communicator.hpp"
#include "halo/train/options.hpp"

namespace halo::train {

/// What a trained model is asked for. Files are .npy with a row for each node, in the user's order.
struct InferenceOptions {
  std::filesystem::path weights{};  ///< .safetensors file with the parameters of the model; learnt rows of
                                    ///< nodes (--embedding) are in embedding.npy beside it
  std::filesystem::path out{};      ///< folder to write: a new name or an empty folder; empty: write nothing
  bool predictions = false;       ///< predictions.npy: int32 [N] the class; int32 [N x C] the classes with an
                                  ///< output above 0 (multi-label); float32 [N x C] the outputs (regression)
  bool logits = false;            ///< logits.npy: float32 [N x C], the outputs
  bool probabilities = false;     ///< probabilities.npy: float32 [N x C], softmax or (multi-label) sigmoid
  std::vector<int> embeddings{};  ///< embeddings_K.npy: float32 [N x hidden], output of hidden layer K >= 1
};

/// Collective. Evaluates the model of `model_options` (what concerns the training itself is not read) with
/// given weights on a partitioned dataset; writes what is asked for and metrics.json, in parallel, into a
/// folder that appears when it is whole. Returns the metrics by name ("test_accuracy", ...), the same on
/// every rank. InputError, the same on every rank and before anything is written, on weights of another
/// model, a layer that the model does not have, probabilities of a regression, or a folder in use.
nlohmann::ordered_json infer(const mpi::Communicator& communicator, const TrainOptions& model_options,
                             const InferenceOptions& options);

}  // namespace halo::train
