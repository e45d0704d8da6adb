#include "halo/train/rank_memory.hpp"

#include <algorithm>

#include "halo/base/exact_sum.hpp"
#include "halo/base/host_memory.hpp"
#include "halo/graph/local_graph.hpp"
#include "halo/nn/memory.hpp"
#include "halo/nn/targets.hpp"
#include "halo/optim/optimizer.hpp"
#include "halo/train/row_output.hpp"

namespace halo::train {
namespace {

constexpr const char* kProgram = "program and MPI";
constexpr const char* kStructure = "graph structure";
constexpr const char* kFeatures = "features";

// Measured: docs/planning.md.
constexpr std::int64_t kProcess = std::int64_t{28} << 20;
constexpr std::int64_t kProcessPerRank = std::int64_t{1} << 20;
constexpr std::int64_t kLibraries = std::int64_t{3} << 20;

constexpr std::int64_t kFloat = sizeof(float);
constexpr std::int64_t kId = sizeof(LocalId);
constexpr std::int64_t kWide = sizeof(NodeId);

/// Rows of edges in one direction: row starts, columns, weights, original ids and levels of the halo.
std::int64_t edges_bytes(const datasets::PartitionManifest& manifest, const graph::ShareCounts& counts,
                         EdgeId edges, std::int64_t halo) {
  return (counts.owned + 1) * kWide + edges * (kId + (manifest.weighted ? kFloat : 0)) +
         halo * (kWide + (counts.has_levels ? 1 : 0));
}

/// Original ids, degrees, loops, levels, tiles.
std::int64_t rows_bytes(const graph::ShareCounts& counts) {
  return counts.owned * (kWide + static_cast<std::int64_t>(sizeof(double)) + kFloat + 1) +
         std::ssize(counts.tiles) * static_cast<std::int64_t>(sizeof(graph::Tile)) +
         counts.groups * static_cast<std::int64_t>(sizeof(graph::TileGroup));
}

/// Labels twice (the share's and those of the loss), splits and their rows, predictions.
std::int64_t target_bytes(const RankMemoryInput& input, const graph::ShareCounts& counts) {
  const std::string& task = input.manifest.task;
  std::int64_t of_row = 1;
  if (task == datasets::kNodeClassification) of_row += nn::kSplits + 2 * kId + kId;
  if (task == datasets::kMultiLabel) of_row += nn::kSplits + 2 * input.manifest.num_classes;
  if (task == datasets::kNodeRegression) of_row += nn::kSplits + 2 * kFloat * input.manifest.num_classes;
  return counts.owned * of_row;
}

std::int64_t moments(const optim::OptimizerOptions& options) {
  return std::ssize(optim::make_optimizer<float>(options, 1, {{0, 1}})->state());
}

bool keeps_best(const TrainOptions& options) {
  return options.best_weights || options.patience > 0;
}

/// Parameters, gradient, moments, the best so far.
std::int64_t parameter_bytes(const RankMemoryInput& input) {
  const std::int64_t copies = 2 + moments(input.options.optimizer) + (keeps_best(input.options) ? 1 : 0);
  return input.model.parameter_count() * copies * kFloat;
}

std::int64_t embedding_bytes(const RankMemoryInput& input, const graph::ShareCounts& counts) {
  const std::int64_t copies = 2 + moments(input.options.optimizer) + (keeps_best(input.options) ? 1 : 0);
  return counts.owned * input.options.model.embedding * copies * kFloat;
}

/// Plans of both directions and of each gather.
std::int64_t plan_bytes(const RankMemoryInput& input, const graph::ShareCounts& counts) {
  std::int64_t bytes = (counts.in.sent_rows() + counts.out.sent_rows()) * kId;
  for (const auto& [key, cols] : input.gathers.cols()) {
    const graph::EdgeCounts& edges = key.first == nn::Direction::kIn ? counts.in : counts.out;
    bytes += graph::count_to_level(edges.sent, key.second) * kId;
    if (!fetches_all(key.second)) bytes += graph::count_to_level(edges.halo, key.second) * kId;
  }
  return bytes;
}

/// Rows packed to be sent, and rows that cannot land in place.
std::int64_t buffer_bytes(const RankMemoryInput& input, const graph::ShareCounts& counts) {
  const bool persistent = input.options.transport == dist::Transport::kPersistent;
  std::int64_t bytes = 0;
  for (const auto& [key, cols] : input.gathers.cols()) {
    const graph::EdgeCounts& edges = key.first == nn::Direction::kIn ? counts.in : counts.out;
    bytes += graph::count_to_level(edges.sent, key.second) * cols * kFloat;
    if (persistent || !fetches_all(key.second))
      bytes += graph::count_to_level(edges.halo, key.second) * cols * kFloat;
  }
  return bytes;
}

/// The pairs of an epoch while they are put in order (link_pairs.cpp), or beside the rows fetched for them:
/// a bound, since pairs are drawn anew every epoch. The scores of held-out links.
std::int64_t link_bytes(const RankMemoryInput& input, const graph::ShareCounts& counts) {
  if (input.manifest.task != datasets::kLinkPrediction) return 0;
  constexpr std::int64_t kEnd = 32, kPairEnd = 8;
  const EdgeId edges = counts.in.edges + (counts.symmetric ? 0 : counts.out.edges);
  const std::int64_t ends = edges * (1 + input.options.task.negatives);
  const std::int64_t remote = std::min(input.manifest.num_nodes - counts.owned, ends);
  const std::int64_t cols = input.options.model.hidden;
  const std::int64_t drawing = ends * (2 * kEnd + kPairEnd + kWide);
  const std::int64_t fetched = ends * kPairEnd + 2 * remote * cols * kFloat;
  const std::int64_t held_out = counts.val_links + counts.test_links;
  const std::int64_t of_link = 4 * kWide + input.manifest.links.negatives * (kWide + kId + kFloat);
  return std::max(drawing, fetched) + held_out * of_link +
         (counts.owned + counts.in.halo_rows() + counts.out.halo_rows()) * kWide;
}

/// The order of the rows and one piece of them, at both ends of its journey (row_output.cpp).
std::int64_t writing_bytes(const RankMemoryInput& input, const graph::ShareCounts& counts) {
  if (input.options.out.empty()) return 0;
  const bool one = input.manifest.task == datasets::kNodeClassification;
  const std::int64_t cols = one ? 1 : std::max<std::int64_t>(1, input.manifest.num_classes);
  const std::int64_t record = kWide + (cols * kFloat + kWide - 1) / kWide * kWide;
  const std::int64_t rows = std::min(counts.owned, kOutputPieceBytes / record);
  return counts.owned * kWide + rows * (2 * record + cols * kFloat + 1);
}

std::int64_t structure_bytes(const datasets::PartitionManifest& manifest, const graph::ShareCounts& counts,
                             bool two_graphs) {
  const auto of_graph = [&](EdgeId in, EdgeId out) {
    std::int64_t bytes = rows_bytes(counts) + edges_bytes(manifest, counts, in, counts.in.halo_rows());
    if (!counts.symmetric) bytes += edges_bytes(manifest, counts, out, counts.out.halo_rows());
    return bytes;
  };
  std::int64_t bytes = of_graph(counts.in.edges, counts.out.edges);
  if (two_graphs) {
    constexpr int kAll = graph::kLastLevel;
    bytes +=
        counts.owned + of_graph(counts.in.training_edges(kAll, kAll), counts.out.training_edges(kAll, kAll));
  }
  return bytes;
}

std::int64_t feature_bytes(const datasets::PartitionManifest& manifest, const graph::ShareCounts& counts) {
  return counts.owned * manifest.feature_cols * kFloat;
}

/// The half of the gradient's limbs that MPI receives into memory of its own before it adds them.
std::int64_t allreduce_bytes(const RankMemoryInput& input) {
  if (input.ranks == 1) return 0;
  return exact_limb_count(input.model.learnt_count()) * static_cast<std::int64_t>(sizeof(std::int64_t)) / 2;
}

/// Ids of the halo, their owners' copies, and wide ids before they are local ones.
std::int64_t loading_bytes(const RankMemoryInput& input, const graph::ShareCounts& counts) {
  const std::int64_t halo = counts.in.halo_rows() + (counts.symmetric ? 0 : counts.out.halo_rows());
  const bool wide = input.manifest.files.at("indices.npy").dtype != "<i4";
  return halo * 2 * kWide + counts.in.sent_rows() * kWide +
         (wide ? std::max(counts.in.edges, counts.out.edges) * kWide : 0);
}

}  // namespace

std::int64_t RankMemory::total() const {
  std::int64_t bytes = 0;
  for (const PurposeBytes& entry : purposes) bytes += entry.bytes;
  return bytes;
}

std::int64_t RankMemory::of(const std::string& purpose) const {
  const auto found = std::ranges::find(purposes, purpose, &PurposeBytes::purpose);
  return found == purposes.end() ? 0 : found->bytes;
}

RankMemory share_memory(const datasets::PartitionManifest& manifest, const graph::ShareCounts& counts,
                        const TrainOptions& options, std::int64_t program_bytes) {
  return {{{kProgram, program_bytes},
           {kStructure, structure_bytes(manifest, counts, options.task.inductive)},
           {kFeatures, feature_bytes(manifest, counts)}}};
}

std::int64_t program_bytes() {
  return std::max(resident_bytes(), kProcess) + kLibraries;  // what is not yet there comes
}

std::int64_t typical_program_bytes(int ranks_on_host) {
  return kProcess + ranks_on_host * kProcessPerRank + kLibraries;
}

RankMemory memory_of(const graph::ShareCounts& counts, const RankMemoryInput& input) {
  const bool counts_classes =
      input.manifest.task == datasets::kNodeClassification || input.manifest.task == datasets::kMultiLabel;
  const nn::MemoryForecast forecast =
      nn::forecast_memory(input.schedules, counts,
                          {.two_graphs = input.options.task.inductive,
                           .weighted = input.manifest.weighted,
                           .classes = counts_classes ? input.manifest.num_classes : 0,
                           .threads = input.threads});
  const nn::MemoryPlan& held = forecast.held;
  RankMemory memory;
  const auto add = [&](const char* purpose, std::int64_t bytes) {
    memory.purposes.push_back({purpose, bytes});
  };
  add(kProgram, input.program_bytes);
  add(kStructure, structure_bytes(input.manifest, counts, input.options.task.inductive) + held.row_factors +
                      held.edges_to_level);
  add(kFeatures, feature_bytes(input.manifest, counts));
  add("labels and predictions", target_bytes(input, counts));
  add("folded constants", held.constants);
  add("halo plans", plan_bytes(input, counts));
  add("halo buffers", buffer_bytes(input, counts));
  // What is there in the steady state of training, and not while loading or folding.
  const std::int64_t before = memory.total();
  add("activations and gradients", forecast.arena_touched);
  add("tile scratch", held.scratch);
  add("exact sums", held.sums + allreduce_bytes(input));
  add("parameters and optimiser", parameter_bytes(input) + held.weights);
  add("embedding", embedding_bytes(input, counts));
  add("link prediction", link_bytes(input, counts));
  const std::int64_t steady = memory.total();
  const std::int64_t passing =
      std::max({writing_bytes(input, counts), before + forecast.folding - steady,
                before - held.constants - held.edges_to_level + loading_bytes(input, counts) - steady});
  add("reading, folding, writing", passing);
  return memory;
}

HaloTraffic traffic_of(const nn::Schedule& schedule, const graph::ShareCounts& counts,
                       const GatherChoice& gathers) {
  HaloTraffic traffic;
  for (const nn::Stage& stage : schedule.stages) {
    if (stage.gathered == nn::kNone) continue;
    const GatherChoice::Key key = gathers.key_of(stage.direction, stage.level);
    const graph::EdgeCounts& edges = key.first == nn::Direction::kIn ? counts.in : counts.out;
    const std::int64_t rows = graph::count_to_level(edges.sent, key.second);
    traffic.rows += rows;
    traffic.bytes += rows * schedule.program.cols(stage.gathered) * kFloat;
    ++traffic.gathers;
  }
  return traffic;
}

}  // namespace halo::train
