#include "halo/partition/partition_dataset.hpp"

#include <algorithm>
#include <utility>

#include "halo/base/cpu.hpp"
#include "halo/base/log.hpp"
#include "halo/base/timer.hpp"
#include "halo/datasets/dataset.hpp"
#include "halo/datasets/staged_folder.hpp"
#include "halo/partition/metis_graph.hpp"
#include "halo/partition/partition_graph.hpp"
#include "halo/partition/reverse_edges.hpp"
#include "halo/partition/write_partition.hpp"

namespace halo::partition {
namespace {

/// In-edge rows of the dataset, whose edge lists are given up.
graph::Csr take_graph(datasets::Dataset& dataset, bool undirected) {
  graph::Csr graph =
      graph::build_in_edges(dataset.num_nodes, dataset.sources, dataset.targets, dataset.edge_weight);
  dataset.sources = {};
  dataset.targets = {};
  dataset.edge_weight = {};
  if (undirected) graph = add_reverse_edges(graph);
  return graph;
}

std::vector<std::uint8_t> train_flags(const datasets::Dataset& dataset) {
  std::vector<std::uint8_t> flags(dataset.split.size());
  std::ranges::transform(dataset.split, flags.begin(), [](datasets::Split split) {
    return static_cast<std::uint8_t>(split == datasets::Split::kTrain);
  });
  return flags;
}

/// All that shaped the result; threads did not.
nlohmann::json describe(const PartitionJob& job, const PartitionedGraph& graph) {
  const PartitionOptions& options = job.options;
  nlohmann::json balance = nlohmann::json::array();
  for (const Balance figure : options.balance) balance.push_back(to_string(figure));
  nlohmann::json json{{"dataset", job.dataset.string()},     {"parts", options.parts},
                      {"method", to_string(options.method)}, {"seed", options.seed},
                      {"undirected", job.undirected},        {"split", nullptr},
                      {"tile_rows", options.tile_rows},      {"tiles_per_group", options.tiles_per_group},
                      {"halognn_version", HALO_VERSION},     {"metis_version", metis_version()}};
  if (job.split) json["split"] = *job.split;
  if (options.method == Method::kMetis) {
    json.update({{"scheme", to_string(options.scheme)},
                 {"scheme_used", to_string(graph.scheme)},
                 {"objective", to_string(options.objective)},
                 {"balance", balance},
                 {"imbalance", options.imbalance},
                 {"repaired_parts", graph.repaired_parts}});
  }
  return json;
}

/// A held-out edge that messages run over gives itself away.
void warn_about_leaks(const datasets::Dataset& dataset, const graph::Csr& graph) {
  std::int64_t leaks = 0;
  for (const datasets::HeldOutLinks* links : {&dataset.val_links, &dataset.test_links}) {
    for (std::size_t i = 0; i < links->sources.size(); ++i)
      leaks += std::ranges::binary_search(graph.neighbours(links->targets[i]), links->sources[i]) ? 1 : 0;
  }
  if (leaks > 0)
    spdlog::warn("{} held-out edges are edges of the graph as well: their score says little", leaks);
}

void warn_about(const datasets::Dataset& dataset, const PartitionedGraph& graph) {
  if (!graph.symmetric && dataset.declared_directed == false) {
    spdlog::warn(
        "dataset.json says undirected, but some edges have no reverse edge: they are used as they are "
        "(--undirected adds the missing ones)");
  }
  if (dataset.task == datasets::kLinkPrediction) {
    if (dataset.val_links.size() == 0) spdlog::warn("the dataset has no validation edges");
    if (dataset.test_links.size() == 0) spdlog::warn("the dataset has no test edges");
    return;
  }
  for (const auto& [split, name] :
       {std::pair(datasets::Split::kValidation, "validation"), {datasets::Split::kTest, "test"}}) {
    if (std::ranges::count(dataset.split, split) == 0) spdlog::warn("the dataset has no {} nodes", name);
  }
}

}  // namespace

PartitionResult partition_dataset(const PartitionJob& job) {
  // Made and removed again: a folder that cannot be written is found before the work, not after it.
  { const datasets::StagedFolder probe(job.out); }
  Timer timer;
  datasets::Dataset dataset = datasets::load_dataset(job.dataset, {.split = job.split});
  check_options(job.options, dataset.num_nodes);
  check_trainable(dataset);
  graph::Csr graph = take_graph(dataset, job.undirected);
  warn_about_leaks(dataset, graph);
  spdlog::info("reading {}: {} nodes, {} edges: {:.2f} s", dataset.name, graph.num_nodes(), graph.num_edges(),
               timer.seconds());
  PartitionedGraph partitioned = partition_graph(std::move(graph), train_flags(dataset), job.options);
  warn_about(dataset, partitioned);
  timer.restart();
  PartitionResult result;
  result.manifest = write_partition(job.out, dataset, partitioned, describe(job, partitioned));
  spdlog::info("writing {:.1f} MB: {:.2f} s; peak memory {:.0f} MB",
               static_cast<double>(bytes_to_write(dataset, partitioned)) * 1e-6, timer.seconds(),
               static_cast<double>(peak_resident_bytes()) * 1e-6);
  result.quality = std::move(partitioned.quality);
  return result;
}

}  // namespace halo::partition
