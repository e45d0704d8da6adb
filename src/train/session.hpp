#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halo/dist/load_partition.hpp"
#include "halo/mpi/communicator.hpp"
#include "halo/nn/executor.hpp"
#include "halo/train/checkpoint.hpp"
#include "halo/train/dist_exchange.hpp"
#include "halo/train/link_prediction.hpp"
#include "halo/train/metrics.hpp"
#include "halo/train/options.hpp"
#include "run_trace.hpp"

namespace halo::train {

/// What a model is loaded for: inference needs no room for gradients.
enum class Purpose { kTraining, kInference };

/// What every run of a job shares, whatever its seed: this rank's share of the graph, the model's program and
/// what executes it.
class Session {
 public:
  /// Collective. Reads the partition, builds the model, folds its constants. InputError, the same on every
  /// rank, on options that do not go with the dataset.
  Session(const mpi::Communicator& communicator, const TrainOptions& options,
          Purpose purpose = Purpose::kTraining);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const mpi::Communicator& communicator() const { return communicator_; }
  bool leads() const { return communicator_.rank() == 0; }
  int threads() const { return threads_; }
  const dist::LocalPartition& partition() const { return partition_; }
  const nn::Program& model() const { return model_; }
  /// Null but for link prediction.
  const LinkPrediction* links() const { return links_.get(); }
  bool has_validation() const { return has_validation_; }
  nn::Executor<float>& executor() { return *executor_; }
  DistExchange& exchange() { return *exchange_; }
  /// Null without options.trace.
  const RunTrace* trace() const { return trace_.get(); }
  TraceRecorder* recorder() { return trace_ ? &trace_->recorder() : nullptr; }
  /// Collective. Scores at `parameters`; the executor's predictions then belong to them.
  Scoring evaluate(std::span<const float> parameters);
  NodeSlice node_slice() const;

 private:
  void load(const TrainOptions& options);
  void check_plan(const TrainOptions& options) const;
  void check_validation(const TrainOptions& options) const;
  void make_model(const TrainOptions& options, const nn::Targets& targets);
  void make_executor(const TrainOptions& options, nn::Targets targets, Purpose purpose);
  void make_link_prediction(const TrainOptions& options, Purpose purpose);
  void start_trace();
  void log_memory() const;

  const mpi::Communicator& communicator_;
  std::int64_t program_bytes_ = 0;  ///< of this process before anything was loaded, and what it takes beside
  int threads_ = 1;
  dist::LocalPartition partition_;
  nn::Program model_;
  bool has_validation_ = false;
  std::vector<std::string> metrics_;
  std::unique_ptr<graph::LocalGraph> training_graph_;  ///< inductive
  std::unique_ptr<DistExchange> exchange_;
  std::unique_ptr<nn::Executor<float>> executor_;
  std::unique_ptr<RunTrace> trace_;
  std::unique_ptr<LinkPrediction> links_;  ///< where that is the task
};

}  // namespace halo::train
