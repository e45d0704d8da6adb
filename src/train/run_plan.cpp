#include "halo/train/run_plan.hpp"

#include <algorithm>
#include <utility>

#include "problem.hpp"

namespace halo::train {

RunPlanner::RunPlanner(const datasets::PartitionManifest& manifest, const TrainOptions& options)
    : manifest_(manifest), options_(options), model_(make_program(manifest, options)) {
  check_task_options(options.task, manifest.task);
}

nn::Schedules RunPlanner::schedules_of(const graph::ShareCounts& counts) const {
  return nn::make_schedules(model_, nn::count_rows(counts), options_.task.inductive);
}

GatherChoice RunPlanner::gathers_of(const nn::Schedules& schedules, const graph::ShareCounts& counts,
                                    const SentRows& sent) const {
  return {nn::find_gathers({&schedules.train, &schedules.evaluation}), counts.symmetric, counts.has_levels,
          sent};
}

RankMemory RunPlanner::memory_of(const graph::ShareCounts& counts, const SentRows& sent, int ranks,
                                 int threads, std::int64_t program_bytes) const {
  const nn::Schedules schedules = schedules_of(counts);
  const GatherChoice gathers = gathers_of(schedules, counts, sent);
  return train::memory_of(counts, {.manifest = manifest_,
                                   .options = options_,
                                   .model = model_,
                                   .schedules = schedules,
                                   .gathers = gathers,
                                   .ranks = ranks,
                                   .threads = threads,
                                   .program_bytes = program_bytes});
}

std::size_t RunPlan::largest() const {
  const auto most =
      std::ranges::max_element(ranks, {}, [](const RankPlan& rank) { return rank.memory.total(); });
  return static_cast<std::size_t>(most - ranks.begin());
}

std::int64_t RunPlan::mean_bytes() const {
  std::int64_t bytes = 0;
  for (const RankPlan& rank : ranks) bytes += rank.memory.total();
  return bytes / std::ssize(ranks);
}

std::int64_t RunPlan::halo_bytes_per_epoch() const {
  std::int64_t bytes = 0;
  for (const RankPlan& rank : ranks) bytes += rank.traffic.bytes;
  return bytes;
}

SentRows sent_rows(std::span<const graph::ShareCounts> shares) {
  SentRows sent{};
  for (const graph::ShareCounts& share : shares) {
    for (std::size_t level = 0; level < graph::kLevels; ++level) {
      sent[0][level] += share.in.sent[level];
      sent[1][level] += share.out.sent[level];
    }
  }
  return sent;
}

RunPlan plan_run(const dist::PartitionScan& scan, const TrainOptions& options, int ranks, int threads,
                 std::int64_t program_bytes) {
  const RunPlanner planner(scan.manifest(), options);
  std::vector<graph::ShareCounts> shares = scan.count_shares(ranks);
  const SentRows sent = sent_rows(shares);
  RunPlan plan;
  plan.threads = threads;
  for (graph::ShareCounts& counts : shares) {
    const nn::Schedules schedules = planner.schedules_of(counts);
    const HaloTraffic traffic =
        traffic_of(schedules.train, counts, planner.gathers_of(schedules, counts, sent));
    RankMemory memory = planner.memory_of(counts, sent, ranks, threads, program_bytes);
    plan.ranks.push_back({std::move(counts), std::move(memory), traffic});
  }
  return plan;
}

dist::PartitionScan scan_for(const TrainOptions& options) {
  const bool links = datasets::read_manifest(options.partition).task == datasets::kLinkPrediction;
  return {options.partition, {.levels = !links, .inductive = options.task.inductive}};
}

}  // namespace halo::train
