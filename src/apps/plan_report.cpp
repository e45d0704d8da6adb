#include "plan_report.hpp"

#include <fmt/format.h>

#include <functional>

#include "halo/base/byte_count.hpp"
#include "halo/base/error.hpp"

namespace halo::apps {
namespace {

constexpr int kNameWidth = 34;
constexpr int kColumnWidth = 14;

using Cell = std::function<std::string(const PlannedRun&)>;

void print_row(const std::string& name, const std::vector<PlannedRun>& runs, const Cell& cell) {
  fmt::print("{:<{}}", name, kNameWidth);
  for (const PlannedRun& run : runs) fmt::print("{:>{}}", cell(run), kColumnWidth);
  fmt::print("\n");
}

const train::RankPlan& largest(const PlannedRun& run) {
  return run.plan.ranks[run.plan.largest()];
}

/// The evaluations of an epoch count as often as they come.
double epoch_seconds(const PlannedRun& run, const train::TrainOptions& options) {
  return run.epoch.training.seconds() +
         run.epoch.evaluation.seconds() / static_cast<double>(options.evaluate_every);
}

nlohmann::ordered_json to_json(const train::EpochWork& work) {
  return {{"seconds", work.seconds()},
          {"product_seconds", work.product_seconds},
          {"edge_seconds", work.edge_seconds},
          {"stream_seconds", work.stream_seconds},
          {"other_seconds", work.other_seconds},
          {"communication_seconds", work.communication_seconds},
          {"product_flops", work.product_flops},
          {"gathered_bytes", work.gathered_bytes},
          {"streamed_bytes", work.streamed_bytes},
          {"halo_bytes_sent", work.halo_bytes}};
}

nlohmann::ordered_json to_json(const train::RankPlan& rank) {
  nlohmann::ordered_json json = {{"owned", rank.counts.owned},
                                 {"halo_in", rank.counts.in.halo_rows()},
                                 {"halo_out", rank.counts.out.halo_rows()},
                                 {"rows_sent", rank.counts.in.sent_rows()},
                                 {"halo_bytes_sent", rank.traffic.bytes},
                                 {"bytes", rank.memory.total()}};
  for (const train::PurposeBytes& entry : rank.memory.purposes) json["purposes"][entry.purpose] = entry.bytes;
  return json;
}

nlohmann::ordered_json to_json(const PlannedRun& run, const train::TrainOptions& options) {
  nlohmann::ordered_json json = {{"ranks", run.plan.ranks.size()},
                                 {"threads", run.plan.threads},
                                 {"ranks_per_host", run.hosts.ranks_each},
                                 {"fits", run.unfit.empty()},
                                 {"why_not", run.unfit},
                                 {"bytes_largest", largest(run).memory.total()},
                                 {"bytes_mean", run.plan.mean_bytes()},
                                 {"halo_bytes_per_epoch", run.plan.halo_bytes_per_epoch()},
                                 {"link_bandwidth", run.link.bandwidth},
                                 {"link_latency", run.link.latency},
                                 {"epoch_seconds", epoch_seconds(run, options)},
                                 {"training", to_json(run.epoch.training)},
                                 {"evaluation", to_json(run.epoch.evaluation)}};
  for (const train::RankPlan& rank : run.plan.ranks) json["per_rank"].push_back(to_json(rank));
  return json;
}

void print_memory(const std::vector<PlannedRun>& runs) {
  fmt::print("memory of the largest rank\n");
  for (const train::PurposeBytes& entry : largest(runs.front()).memory.purposes) {
    const Cell bytes = [&](const PlannedRun& run) {
      return format_byte_count(largest(run).memory.of(entry.purpose));
    };
    print_row("  " + entry.purpose, runs, bytes);
  }
  print_row("  all", runs,
            [](const PlannedRun& run) { return format_byte_count(largest(run).memory.total()); });
  print_row("mean over ranks", runs,
            [](const PlannedRun& run) { return format_byte_count(run.plan.mean_bytes()); });
}

void print_time(const train::TrainOptions& options, const std::vector<PlannedRun>& runs) {
  const auto seconds = [&](const char* name, double train::EpochWork::*part) {
    print_row(name, runs,
              [&](const PlannedRun& run) { return fmt::format("{:.4f}", run.epoch.training.*part); });
  };
  fmt::print("seconds of one epoch of training, slowest rank\n");
  seconds("  products", &train::EpochWork::product_seconds);
  seconds("  sums over neighbours", &train::EpochWork::edge_seconds);
  seconds("  values to and from memory", &train::EpochWork::stream_seconds);
  seconds("  other (row by row, exact sums)", &train::EpochWork::other_seconds);
  seconds("  communication, nothing hidden", &train::EpochWork::communication_seconds);
  print_row("  all", runs,
            [](const PlannedRun& run) { return fmt::format("{:.4f}", run.epoch.training.seconds()); });
  print_row("seconds of an evaluation", runs,
            [](const PlannedRun& run) { return fmt::format("{:.4f}", run.epoch.evaluation.seconds()); });
  print_row("seconds per epoch with evaluations", runs,
            [&](const PlannedRun& run) { return fmt::format("{:.4f}", epoch_seconds(run, options)); });
}

}  // namespace

std::string why_unfit(const train::RunPlan& plan, std::vector<train::MemoryNeed> needs, std::int64_t limit,
                      PartId parts) {
  for (std::size_t rank = 0; rank < needs.size(); ++rank)
    needs[rank].purposes = plan.ranks[rank].memory.purposes;
  try {
    train::check_fits(needs, limit, parts);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

void print_plans(const datasets::PartitionManifest& manifest, const train::TrainOptions& options,
                 const std::vector<PlannedRun>& runs) {
  fmt::print("{}: {} nodes, {} edges, {} features, {} parts; {}, {} layers of {} columns\n", manifest.name,
             manifest.num_nodes, manifest.num_edges, manifest.feature_cols, manifest.parts,
             options.model.model, options.model.layers, options.model.hidden);
  print_row("ranks x threads", runs, [](const PlannedRun& run) {
    return fmt::format("{} x {}", run.plan.ranks.size(), run.plan.threads);
  });
  print_memory(runs);
  print_row("halo rows of the largest rank", runs,
            [](const PlannedRun& run) { return fmt::format("{}", largest(run).counts.in.halo_rows()); });
  print_row("halo bytes per epoch, all ranks", runs,
            [](const PlannedRun& run) { return format_byte_count(run.plan.halo_bytes_per_epoch()); });
  print_time(options, runs);
  print_row("fits", runs, [](const PlannedRun& run) { return run.unfit.empty() ? "yes" : "no"; });
  for (const PlannedRun& run : runs) {
    if (!run.unfit.empty()) fmt::print("{} ranks: {}\n", run.plan.ranks.size(), run.unfit);
  }
}

nlohmann::ordered_json plans_to_json(const datasets::PartitionManifest& manifest,
                                     const train::TrainOptions& options,
                                     const std::vector<PlannedRun>& runs) {
  nlohmann::ordered_json json = {{"dataset", manifest.name}, {"run_id", manifest.run_id}};
  for (const PlannedRun& run : runs) json["plans"].push_back(to_json(run, options));
  return json;
}

}  // namespace halo::apps
