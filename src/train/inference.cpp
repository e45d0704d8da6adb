#include "halo/train/inference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "epoch_record.hpp"
#include "halo/base/error.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/datasets/staged_folder.hpp"
#include "halo/nn/passes.hpp"
#include "halo/train/row_output.hpp"
#include "model_files.hpp"
#include "predictions.hpp"
#include "session.hpp"

namespace halo::train {
namespace {

namespace fs = std::filesystem;

/// The options of a session that only evaluates.
TrainOptions without_training(TrainOptions options) {
  options.patience = 0;
  options.best_weights = false;
  options.schedule = {};
  options.task.inductive = false;  // the whole graph is what a model is judged on
  return options;
}

void check_layers(const InferenceOptions& options, const nn::Program& model) {
  const auto layers = static_cast<int>(model.layer_outputs.size());
  for (const int layer : options.embeddings) {
    if (layer >= 1 && layer <= layers) continue;
    throw InputError(
        {.what = "the model has no such hidden layer",
         .where = "--embeddings",
         .found = std::to_string(layer),
         .expected = layers == 0 ? "none: the model has no hidden layer" : fmt::format("1 to {}", layers),
         .next = ""});
  }
}

void check_task(const InferenceOptions& options, const std::string& task) {
  if (!options.probabilities || task == datasets::kNodeClassification || task == datasets::kMultiLabel)
    return;
  throw InputError({.what = "the outputs are no probabilities",
                    .where = "--probabilities",
                    .found = "a dataset of task " + task,
                    .expected = "a classification",
                    .next = "ask for --predictions or --logits"});
}

void softmax(const float* logits, float* probabilities, std::int64_t cols) {
  const auto largest = static_cast<double>(*std::max_element(logits, logits + cols));
  double sum = 0.0;
  for (std::int64_t c = 0; c < cols; ++c) sum += std::exp(static_cast<double>(logits[c]) - largest);
  for (std::int64_t c = 0; c < cols; ++c) {
    probabilities[c] = static_cast<float>(std::exp(static_cast<double>(logits[c]) - largest) / sum);
  }
}

std::vector<float> probabilities_of(MatrixView<const float> logits, nn::Task task) {
  std::vector<float> probabilities(at(logits.rows * logits.cols));
  for (std::int64_t r = 0; r < logits.rows; ++r) {
    const float* row = logits.row(r);
    float* result = probabilities.data() + r * logits.cols;
    if (task == nn::Task::kSingleLabel) {
      softmax(row, result, logits.cols);
    } else {
      std::transform(row, row + logits.cols, result, [](float x) {
        return static_cast<float>(1.0 / (1.0 + std::exp(-static_cast<double>(x))));
      });
    }
  }
  return probabilities;
}

/// The folder of the results: rank 0 makes it and gives it its name when all have written.
class ResultFolder {
 public:
  /// Collective.
  ResultFolder(const mpi::Communicator& communicator, const fs::path& path) : communicator_(communicator) {
    communicator.agree([&] {
      if (communicator.rank() == 0) staged_ = std::make_unique<datasets::StagedFolder>(path);
    });
    path_ = communicator.broadcast(staged_ ? staged_->path().string() : "", 0);
  }
  fs::path operator/(const std::string& name) const { return path_ / name; }
  /// Collective.
  void commit() {
    communicator_.agree([&] {
      if (staged_) staged_->commit();
    });
  }

 private:
  const mpi::Communicator& communicator_;
  std::unique_ptr<datasets::StagedFolder> staged_;
  fs::path path_;
};

class Inference {
 public:
  Inference(const mpi::Communicator& communicator, const TrainOptions& model_options,
            const InferenceOptions& options)
      : communicator_(communicator),
        options_(options),
        model_options_(model_options),
        session_(communicator, without_training(model_options), Purpose::kInference),
        parameters_(at(session_.model().parameter_count())),
        embedding_(session_.partition().graph.owned * model_options.model.embedding) {
    communicator_.agree([&] {
      check_layers(options_, session_.model());
      check_task(options_, session_.partition().manifest.task);
    });
    const std::int64_t cols = model_options.model.embedding;
    load_model(session_, options_.weights, parameters_, cols, embedding_.span());
    embedding_rows_.values = {embedding_.data(), session_.partition().graph.owned, cols};
    session_.executor().set_embedding(embedding_rows_);
  }

  nlohmann::ordered_json go() {
    const nlohmann::ordered_json scores = named_scores(session_.evaluate(parameters_));
    if (!options_.out.empty()) write(scores);
    return scores;
  }

 private:
  void write(const nlohmann::ordered_json& scores) {
    ResultFolder folder(communicator_, options_.out);
    nn::Executor<float>& executor = session_.executor();
    if (options_.predictions) write_predictions(session_, folder / "predictions.npy");
    if (options_.logits) write_rows(folder / "logits.npy", executor.logits());
    if (options_.probabilities) {
      const MatrixView<const float> logits = executor.logits();
      const auto values = probabilities_of(logits, executor.targets().task);
      write_rows(folder / "probabilities.npy", {values.data(), logits.rows, logits.cols});
    }
    for (const int layer : options_.embeddings) write_embeddings(folder, layer);
    communicator_.agree([&] {
      if (!session_.leads()) return;
      datasets::write_text_file(folder / "metrics.json", scores.dump(2) + "\n");
    });
    folder.commit();
  }

  void write_rows(const fs::path& path, MatrixView<const float> rows) {
    const dist::LocalPartition& partition = session_.partition();
    write_node_rows<float>(communicator_, path, partition.manifest.num_nodes, partition.graph.original_id,
                           rows);
  }

  /// Runs the program up to that layer alone, with buffers of its own.
  void write_embeddings(const ResultFolder& folder, int layer) {
    const dist::LocalPartition& partition = session_.partition();
    const nn::ValueId output = session_.model().layer_outputs[at(layer - 1)];
    const nn::Schedule schedule =
        nn::make_schedule(nn::inference_program(session_.model(), output), nn::count_rows(partition.graph));
    DistExchange exchange(communicator_, partition, partition.graph, model_options_.transport,
                          nn::find_gathers({&schedule}), session_.threads());
    const MatrixView<const float> features(partition.features.data(), partition.graph.owned,
                                           partition.manifest.feature_cols);
    nn::Targets none;
    none.task = nn::Task::kSquaredError;
    nn::Executor<float> executor(partition.graph, features, std::move(none),
                                 {.train = schedule, .evaluation = schedule}, exchange, session_.threads());
    executor.set_embedding(embedding_rows_);
    executor.fold_constants();
    executor.evaluate(parameters_);
    write_rows(folder / fmt::format("embeddings_{}.npy", layer), executor.logits());
  }

  const mpi::Communicator& communicator_;
  const InferenceOptions& options_;
  const TrainOptions& model_options_;
  Session session_;
  std::vector<float> parameters_;
  Buffer<float> embedding_;
  nn::EmbeddingRows<float> embedding_rows_;
};

}  // namespace

nlohmann::ordered_json infer(const mpi::Communicator& communicator, const TrainOptions& model_options,
                             const InferenceOptions& options) {
  communicator.agree([&] {
    // Tries the name of the results before the work; the folder itself is made when there is something to
    // write.
    if (communicator.rank() == 0 && !options.out.empty()) datasets::StagedFolder{options.out};
  });
  return Inference(communicator, model_options, options).go();
}

}  // namespace halo::train
