#include "halo/train/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "epoch_record.hpp"
#include "halo/base/cpu.hpp"
#include "halo/base/error.hpp"
#include "halo/base/log.hpp"
#include "halo/kernels/product.hpp"
#include "halo/kernels/rows.hpp"
#include "halo/train/placement.hpp"
#include "halo/train/run_folder.hpp"
#include "problem.hpp"
#include "progress.hpp"

namespace halo::train {
namespace {

/// Some MPI libraries append how they were built.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

void log_placement(const mpi::Communicator& communicator, const std::vector<RankPlacement>& ranks) {
  if (communicator.rank() != 0) return;
  spdlog::info("{} rank{}, {}; vector code {}, products {}", ranks.size(), ranks.size() == 1 ? "" : "s",
               first_line(mpi::library_version()), to_string(vector_isa()), kernels::product_backend());
  const char* binding = std::getenv("OMP_PROC_BIND");
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    spdlog::info("rank {}: host {}, pid {}, cpus {}, {} thread{} (OMP_PROC_BIND {})", r, ranks[r].host,
                 ranks[r].pid, cpu_ranges(ranks[r].cpus), ranks[r].threads, ranks[r].threads == 1 ? "" : "s",
                 binding == nullptr ? "not set" : binding);
  }
}

std::vector<optim::FlatRange> decayed_ranges(const nn::Program& program, bool first_layer_only) {
  std::vector<optim::FlatRange> ranges;
  for (const nn::Parameter& parameter : program.parameters) {
    if (first_layer_only && parameter.layer != 0) continue;
    ranges.push_back({.begin = parameter.offset, .end = parameter.offset + parameter.size()});
  }
  return ranges;
}

/// The loss is an exact sum, so every rank finds it not finite in the same epoch.
class Diverged final : public Error, public mpi::Agreed {
 public:
  using Error::Error;
};

/// The weights that count in the end: those of the last epoch, or with early stopping those of the lowest
/// validation loss.
struct Best {
  std::int64_t epoch = 0;
  std::int64_t evaluations_since = 0;
  nn::Scores scores;
  std::vector<float> parameters;
};

double median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Run {
 public:
  Run(const mpi::Communicator& communicator, const TrainOptions& options, const TrainReport& report)
      : communicator_(communicator),
        options_(options),
        progress_(communicator.rank() == 0 && report.progress, options.epochs) {}

  nlohmann::json go() {
    prepare();
    open_folder();
    for (epoch_ = 1; epoch_ <= options_.epochs && !stopped_; ++epoch_) run_epoch();
    progress_.finish();
    return finish();
  }

 private:
  bool leads() const { return communicator_.rank() == 0; }

  /// Everything that can find fault with options or input, before anything is written.
  void prepare() {
    communicator_.agree([&] {
      check_options(options_);
      if (leads() && !options_.out.empty()) check_run_path(options_.out);
    });
    const auto ranks = place_ranks(communicator_, options_.threads);
    log_placement(communicator_, ranks);
    options_.threads = ranks[static_cast<std::size_t>(communicator_.rank())].threads;
    const Timer timer;
    partition_ = dist::load_partition(communicator_, options_.partition);
    if (leads()) {
      spdlog::info("{}: {} nodes, {} edges, {} parts on {} rank(s), read in {:.2f} s",
                   partition_.manifest.name, partition_.manifest.num_nodes, partition_.manifest.num_edges,
                   partition_.manifest.parts, communicator_.size(), timer.seconds());
    }
    nn::Targets targets = make_targets(communicator_, partition_);
    has_validation_ = targets.global_count[1] > 0;
    communicator_.agree([&] {
      if (options_.patience > 0 && !has_validation_) {
        throw InputError({.what = "early stopping needs validation nodes",
                          .where = "--patience",
                          .found = "a dataset without validation nodes",
                          .expected = "some validation nodes, or --patience 0",
                          .next = "leave --patience out"});
      }
      model_ =
          nn::build_model(options_.model, partition_.manifest.feature_cols, partition_.manifest.num_classes);
      optimizer_ = optim::make_optimizer<float>(options_.optimizer, model_.parameter_count(),
                                                decayed_ranges(model_, options_.decay_first_layer_only));
    });
    allocate(std::move(targets));
  }

  void allocate(nn::Targets targets) {
    const std::int64_t owned = partition_.graph.owned;
    const MatrixView<float> features(partition_.features.data(), owned, partition_.manifest.feature_cols);
    if (options_.row_normalise) kernels::normalise_rows_l1(features);
    nn::Schedules schedules = nn::make_schedules(model_, partition_.graph);
    const std::int64_t cols =
        std::max(nn::widest_gather(schedules.train), nn::widest_gather(schedules.evaluation));
    exchange_ =
        std::make_unique<DistExchange>(communicator_, partition_, options_.transport, cols, options_.threads);
    executor_ = std::make_unique<nn::Executor<float>>(partition_.graph, features, std::move(targets),
                                                      std::move(schedules), *exchange_, options_.threads);
    parameters_.resize(static_cast<std::size_t>(model_.parameter_count()));
    gradient_.resize(parameters_.size());
    nn::initialise_parameters(model_, options_.seed, parameters_.data());
    if (leads()) {
      const nn::MemoryPlan plan = executor_->memory_plan();
      spdlog::info(
          "{} parameters; rank 0 holds {} rows + {} halo rows, {:.1f} MiB of activations, {:.1f} MiB of "
          "constants",
          parameters_.size(), owned, partition_.graph.in.halo, static_cast<double>(plan.arena) / 0x1p20,
          static_cast<double>(plan.constants) / 0x1p20);
      spdlog::debug("training program\n{}", to_text(executor_->train_schedule()));
    }
    executor_->fold_constants();
  }

  void open_folder() {
    if (options_.out.empty()) return;
    communicator_.agree([&] {
      if (leads()) folder_ = std::make_unique<RunFolder>(options_.out, to_json(options_));
    });
  }

  void run_epoch() {
    const Timer timer;
    exchange_->reset_statistics();
    executor_->reset_exact_sum_seconds();
    const double loss =
        executor_->train(parameters_, options_.seed, static_cast<std::uint64_t>(epoch_), gradient_);
    check_loss(loss);
    optimizer_->step(parameters_, gradient_, options_.optimizer.learning_rate);
    EpochTimes times;
    times.train = timer.seconds();
    times.exchange = exchange_->statistics();
    times.exact_sum = executor_->exact_sum_seconds();
    const bool evaluates = epoch_ % options_.evaluate_every == 0 || epoch_ == options_.epochs;
    if (evaluates) judge(executor_->evaluate(parameters_));
    times.epoch = timer.seconds();
    record(loss, evaluates, times);
  }

  void check_loss(double loss) const {
    if (std::isfinite(loss)) return;
    throw Diverged(fmt::format("training diverged: the loss of epoch {} is not finite; lower --lr ({})",
                               epoch_, options_.optimizer.learning_rate));
  }

  /// Scores are exact sums, so every rank decides alike.
  void judge(const nn::Scores& scores) {
    last_ = scores;
    if (options_.patience == 0) return;
    const bool better = best_.epoch == 0 || scores.loss[1] < best_.scores.loss[1];
    if (better) {
      best_ = {.epoch = epoch_, .evaluations_since = 0, .scores = scores, .parameters = parameters_};
    } else if (++best_.evaluations_since >= options_.patience) {
      stopped_ = true;
    }
  }

  void record(double loss, bool evaluated, const EpochTimes& times) {
    const EpochFigures figures = reduce_times(communicator_, times);
    train_seconds_.push_back(figures.train_seconds_max);
    epoch_seconds_.push_back(figures.epoch_seconds_max);
    halo_bytes_ = figures.halo_bytes;
    halo_wait_seconds_ += figures.halo_wait_seconds_max;
    allreduce_seconds_ += figures.allreduce_seconds_max;
    exact_sum_seconds_ += figures.exact_sum_seconds_max;
    if (folder_) folder_->append_metrics(metrics_line(epoch_, loss, evaluated ? &last_ : nullptr, figures));
    progress_.show({.epoch = epoch_,
                    .train_loss = loss,
                    .val_accuracy = last_.accuracy[1],
                    .evaluated = evaluated && has_validation_});
  }

  nlohmann::json finish() {
    const std::int64_t epochs_run = epoch_ - 1;
    nn::Scores chosen = last_;
    if (options_.patience > 0) {
      parameters_ = best_.parameters;
      chosen = executor_->evaluate(parameters_);
    }
    auto summary = summarise(chosen, epochs_run);
    if (!options_.out.empty()) {
      communicator_.agree([&] {
        if (folder_) folder_->write_weights(model_, parameters_);
      });
      write_predictions(communicator_, options_.out / "predictions.npy", partition_.manifest.num_nodes,
                        partition_.graph.original_id, executor_->predictions());
      communicator_.agree([&] {  // last: a run folder with a summary is complete
        if (folder_) folder_->write_summary(summary);
      });
    }
    return summary;
  }

  nlohmann::json summarise(const nn::Scores& chosen, std::int64_t epochs_run) {
    std::int64_t peak[] = {peak_resident_bytes()};
    communicator_.max(std::span<std::int64_t>(peak));
    return {{"dataset", partition_.manifest.name},
            {"run_id", partition_.manifest.run_id},
            {"ranks", communicator_.size()},
            {"threads", options_.threads},
            {"epochs", epochs_run},
            {"stopped_early", stopped_},
            {"chosen_epoch", options_.patience > 0 ? best_.epoch : epochs_run},
            {"train_accuracy", number_or_null(chosen.accuracy[0])},
            {"val_accuracy", number_or_null(chosen.accuracy[1])},
            {"test_accuracy", number_or_null(chosen.accuracy[2])},
            {"val_loss", number_or_null(chosen.loss[1])},
            {"test_accuracy_last", number_or_null(last_.accuracy[2])},
            {"train_seconds_median", median(train_seconds_)},
            {"epoch_seconds_median", median(epoch_seconds_)},
            {"halo_wait_seconds_mean", halo_wait_seconds_ / static_cast<double>(epochs_run)},
            {"allreduce_seconds_mean", allreduce_seconds_ / static_cast<double>(epochs_run)},
            {"exact_sum_seconds_mean", exact_sum_seconds_ / static_cast<double>(epochs_run)},
            {"halo_bytes_per_epoch", halo_bytes_},
            {"peak_bytes_max", peak[0]},
            {"parameters", model_.parameter_count()}};
  }

  const mpi::Communicator& communicator_;
  TrainOptions options_;
  Progress progress_;
  dist::LocalPartition partition_;
  nn::Program model_;
  bool has_validation_ = false;
  std::unique_ptr<optim::Optimizer<float>> optimizer_;
  std::unique_ptr<DistExchange> exchange_;
  std::unique_ptr<nn::Executor<float>> executor_;
  std::unique_ptr<RunFolder> folder_;
  std::vector<float> parameters_;
  std::vector<float> gradient_;

  std::int64_t epoch_ = 0;
  bool stopped_ = false;
  nn::Scores last_;
  Best best_;
  std::vector<double> train_seconds_;
  std::vector<double> epoch_seconds_;
  std::int64_t halo_bytes_ = 0;
  double halo_wait_seconds_ = 0.0;
  double allreduce_seconds_ = 0.0;
  double exact_sum_seconds_ = 0.0;
};

}  // namespace

nlohmann::json train(const mpi::Communicator& communicator, const TrainOptions& options,
                     const TrainReport& report) {
  return Run(communicator, options, report).go();
}

}  // namespace halo::train
