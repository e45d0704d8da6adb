#include "halo/train/epoch_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <variant>

#include "calibration.hpp"
#include "halo/base/exact_sum.hpp"
#include "halo/graph/row_levels.hpp"

namespace halo::train {
namespace {

constexpr double kFloat = sizeof(float);

/// How many threads' worth of a rank's seconds pass in one second.
double speed_of(int threads, const Hosts& hosts) {
  const double wanted = static_cast<double>(threads) * hosts.ranks_each;
  return threads * std::min(1.0, hosts.cores / wanted);
}

/// Adds up what one schedule makes one rank do, in seconds of one thread.
class ScheduleWork {
 public:
  ScheduleWork(const nn::Schedule& schedule, const graph::ShareCounts& counts, bool training,
               Calibration& rates)
      : schedule_(schedule), counts_(counts), training_(training), rates_(rates) {}

  EpochWork add_up() {
    for (const nn::Stage& stage : schedule_.stages) {
      in_cache_.clear();
      for (const std::int32_t position : stage.operations) add(position);
      for (const nn::ParameterId id : stage.gradients)
        add_exact(static_cast<double>(schedule_.program.parameter(id).size()));
      for (const nn::ReductionId id : stage.written)
        add_exact(static_cast<double>(schedule_.program.reductions[at(id)].size));
    }
    return work_;
  }

 private:
  const nn::Operation& operation(std::int32_t position) const {
    return schedule_.program.operations[at(position)];
  }
  std::int64_t cols(nn::ValueId value) const { return schedule_.program.cols(value); }

  void add(std::int32_t position) {
    const nn::Operation& op = operation(position);
    const nn::OperationRows& levels = schedule_.rows[at(position)];
    const int level = training_ ? levels.compute : graph::kLastLevel;
    rows_ = static_cast<double>(counts_.rows_to_level(level));
    std::visit([&](const auto& kind) { add_kind(op, kind, levels); }, op.kind);
    add_streams(op);
  }

  template <typename Kind>
  void add_kind(const nn::Operation& op, const Kind& kind, const nn::OperationRows& levels) {
    namespace ops = nn::op;
    if constexpr (requires { kind.gathers(); }) {
      add_edges(op, *kind.gathers(), levels);
    } else if constexpr (std::is_same_v<Kind, ops::Linear>) {
      add_product(Product::kForward, cols(op.inputs[0]), cols(op.output));
    } else if constexpr (std::is_same_v<Kind, ops::LinearInputGradient>) {
      add_product(Product::kInput, cols(op.output), cols(op.inputs[0]));
    } else if constexpr (std::is_same_v<Kind, ops::LinearWeightGradient>) {
      add_product(Product::kWeight, cols(op.inputs[0]), cols(op.inputs[1]));
    } else if constexpr (std::is_same_v<Kind, ops::Dropout> || std::is_same_v<Kind, ops::ReluDropout>) {
      add_elements(Elementwise::kDropout, op);
    } else if constexpr (std::is_same_v<Kind, ops::Loss> || std::is_same_v<Kind, ops::Score> ||
                         std::is_same_v<Kind, ops::Activation>) {
      add_elements(Elementwise::kSoftmax, op);
    } else if constexpr (std::is_same_v<Kind, ops::BatchNorm> ||
                         std::is_same_v<Kind, ops::BatchNormStatistics> ||
                         std::is_same_v<Kind, ops::BatchNormGradientSums> ||
                         std::is_same_v<Kind, ops::BatchNormGradient>) {
      add_elements(Elementwise::kColumnNorm, op);
    } else if constexpr (std::is_same_v<Kind, ops::LayerNorm> ||
                         std::is_same_v<Kind, ops::LayerNormGradient> || std::is_same_v<Kind, ops::L2Norm> ||
                         std::is_same_v<Kind, ops::L2NormGradient>) {
      add_elements(Elementwise::kRowNorm, op);
    } else {
      add_elements(Elementwise::kPlain, op);
    }
  }

  void add_product(Product product, std::int64_t k, std::int64_t n) {
    work_.product_flops += 2.0 * rows_ * static_cast<double>(k) * static_cast<double>(n);
    work_.product_seconds += rows_ * rates_.seconds_per_row(product, k, n);
  }

  void add_edges(const nn::Operation& op, const nn::Gather& gather, const nn::OperationRows& levels) {
    const graph::EdgeCounts& edges = gather.direction == nn::Direction::kIn ? counts_.in : counts_.out;
    const auto summed =
        static_cast<double>(training_ ? edges.training_edges(levels.compute, levels.edges) : edges.edges);
    const std::int64_t width = cols(op.inputs[gather.input]);
    work_.gathered_bytes += summed * static_cast<double>(width) * kFloat;
    work_.edge_seconds += summed * rates_.seconds_per_edge(op.kind, width);
    in_cache_.insert(op.inputs[gather.input]);  // part of the pass
    if (op.output != nn::kNone) in_cache_.insert(op.output);
  }

  void add_elements(Elementwise kind, const nn::Operation& op) {
    const nn::ValueId widest = op.output != nn::kNone ? op.output : op.inputs[0];
    work_.other_seconds += rows_ * static_cast<double>(cols(widest)) * rates_.seconds_per_element(kind);
  }

  /// A value that has a row for each node comes from memory once in a stage, or goes there.
  void add_streams(const nn::Operation& op) {
    const auto stream = [&](nn::ValueId value, double times) {
      if (value == nn::kNone || schedule_.placements[at(value)].memory == nn::Memory::kScratch) return;
      if (!in_cache_.insert(value).second) return;
      const double bytes = times * rows_ * static_cast<double>(cols(value)) * kFloat;
      work_.streamed_bytes += bytes;
      work_.stream_seconds += bytes * rates_.seconds_per_byte();
    };
    for (const nn::ValueId value : op.inputs) stream(value, 1.0);
    stream(op.output, 1.0);
  }

  /// Every group of tiles enters its sums once.
  void add_exact(double terms) {
    work_.other_seconds += static_cast<double>(counts_.groups) * terms * rates_.seconds_per_exact_term();
  }

  const nn::Schedule& schedule_;
  const graph::ShareCounts& counts_;
  bool training_;
  Calibration& rates_;
  double rows_ = 0.0;  ///< of the operation
  std::set<nn::ValueId> in_cache_;
  EpochWork work_;
};

void divide_by(EpochWork& work, double speed) {
  work.product_seconds /= speed;
  work.edge_seconds /= speed;
  work.stream_seconds /= speed;
  work.other_seconds /= speed;
}

/// Packing reads and writes each row, the message takes its way, nothing is hidden; limbs go to all and back.
void add_communication(const nn::Schedule& schedule, const graph::ShareCounts& counts,
                       const GatherChoice& gathers, int ranks, double limb_bytes, const Link& link,
                       double seconds_per_byte, EpochWork& work) {
  if (ranks == 1) return;
  const double of_byte = link.bandwidth > 0.0 ? 1.0 / link.bandwidth : 2.0 * seconds_per_byte;
  const HaloTraffic traffic = traffic_of(schedule, counts, gathers);
  const auto neighbours = static_cast<double>(counts.in.send_ranks);
  const auto bytes = static_cast<double>(traffic.bytes);
  work.halo_bytes = bytes;
  work.communication_seconds = static_cast<double>(traffic.gathers) * neighbours * link.latency +
                               bytes * (of_byte + 2.0 * seconds_per_byte) +
                               2.0 * std::ceil(std::log2(ranks)) * link.latency + 2.0 * limb_bytes * of_byte;
}

}  // namespace

struct EpochEstimator::Measured {
  int threads;
  std::int64_t matrix_rows;
  Calibration rates;
};

EpochEstimator::EpochEstimator(const dist::PartitionScan& scan, const TrainOptions& options)
    : scan_(scan), planner_(scan.manifest(), options) {}
EpochEstimator::~EpochEstimator() = default;

Calibration& EpochEstimator::calibration(int threads, std::int64_t matrix_rows) {
  constexpr EdgeId kEdges = EdgeId{1} << 18;
  for (const auto& entry : measured_) {
    if (entry->threads == threads && entry->matrix_rows == matrix_rows) return entry->rates;
  }
  measured_.push_back(std::make_unique<Measured>(Measured{
      threads, matrix_rows,
      Calibration(
          scan_.sample(kEdges),
          {.threads = threads, .tile_rows = scan_.manifest().tile_rows, .matrix_rows = matrix_rows})}));
  return measured_.back()->rates;
}

EpochEstimate EpochEstimator::estimate(const RunPlan& plan, const Link& link, const Hosts& hosts) {
  constexpr std::int64_t kMostRows = std::int64_t{1} << 18;  // far beyond the caches where rows are wide
  const auto ranks = static_cast<int>(plan.ranks.size());
  const int at_once = std::min(hosts.cores, plan.threads * std::min(ranks, hosts.ranks_each));
  const double speed = speed_of(plan.threads, {std::min(ranks, hosts.ranks_each), hosts.cores});
  std::vector<graph::ShareCounts> shares;
  for (const RankPlan& rank : plan.ranks) shares.push_back(rank.counts);
  const SentRows sent = sent_rows(shares);
  const auto limb_bytes = static_cast<double>(exact_limb_count(planner_.model().learnt_count()) * 8);
  EpochEstimate slowest;
  for (const graph::ShareCounts& counts : shares) {
    const nn::Schedules schedules = planner_.schedules_of(counts);
    const GatherChoice gathers = planner_.gathers_of(schedules, counts, sent);
    Calibration& rates =
        calibration(at_once, std::min(kMostRows, shares.front().owned + shares.front().in.halo_rows()));
    const auto of = [&](const nn::Schedule& schedule, bool training) {
      EpochWork work = ScheduleWork(schedule, counts, training, rates).add_up();
      divide_by(work, speed);
      add_communication(schedule, counts, gathers, ranks, training ? limb_bytes : 0.0, link,
                        rates.seconds_per_byte(), work);
      return work;
    };
    const EpochWork training = of(schedules.train, true);
    const EpochWork evaluation = of(schedules.evaluation, false);
    if (training.seconds() >= slowest.training.seconds()) slowest.training = training;
    if (evaluation.seconds() >= slowest.evaluation.seconds()) slowest.evaluation = evaluation;
  }
  return slowest;
}

}  // namespace halo::train
