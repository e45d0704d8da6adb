#include "halo/partition/partition_graph.hpp"

#include <utility>

#include "halo/base/cpu.hpp"
#include "halo/base/log.hpp"
#include "halo/base/timer.hpp"
#include "halo/graph/row_levels.hpp"
#include "halo/partition/part_order.hpp"
#include "halo/partition/partitioner.hpp"

namespace halo::partition {
namespace {

bool has_loops(const graph::Csr& graph) {
  for (NodeId i = 0; i < graph.num_nodes(); ++i) {
    for (const NodeId j : graph.neighbours(i)) {
      if (j == i) return true;
    }
  }
  return false;
}

/// What METIS and the orders look at: the graph itself where it is simple already, else a copy in `storage`.
const graph::Csr& neighbours_of(const graph::Csr& graph, bool symmetric, graph::Csr& storage) {
  if (symmetric && !has_loops(graph) && graph::count_duplicates(graph) == 0) return graph;
  storage = graph::symmetric_loop_free(graph);
  return storage;
}

std::vector<std::int64_t> in_degrees(const graph::Csr& graph) {
  std::vector<std::int64_t> degrees(at(graph.num_nodes()));
  for (std::size_t i = 0; i < degrees.size(); ++i) degrees[i] = graph.indptr[i + 1] - graph.indptr[i];
  return degrees;
}

/// Logs what a phase took, and the most memory so far; starts the next one.
void log_phase(const char* name, Timer& timer) {
  spdlog::info("{}: {:.2f} s; peak memory {:.0f} MB", name, timer.seconds(),
               static_cast<double>(peak_resident_bytes()) * 1e-6);
  timer.restart();
}

/// Parts in their final numbering.
Assignment assign_ordered_parts(const graph::Csr& graph, const graph::Csr& neighbours,
                                std::span<const std::uint8_t> is_train, const PartitionOptions& options,
                                Timer& timer) {
  Assignment assignment = assign_nodes(neighbours, in_degrees(graph), is_train, options);
  log_phase("parts", timer);
  // Blocks keep the order they came in.
  if (options.method != Method::kBlock) {
    const auto number = order_parts(make_quotient(neighbours, assignment.part, options.parts), options.seed);
    for (PartId& part : assignment.part) part = number[at(part)];
    log_phase("order of parts", timer);
  }
  return assignment;
}

std::vector<std::uint8_t> by_new_id(std::span<const std::uint8_t> values,
                                    std::span<const NodeId> original_id) {
  std::vector<std::uint8_t> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) result[i] = values[at(original_id[i])];
  return result;
}

}  // namespace

PartitionedGraph partition_graph(graph::Csr graph, std::span<const std::uint8_t> is_train,
                                 const PartitionOptions& options) {
  check_options(options, graph.num_nodes());
  PartitionedGraph result;
  Timer timer;
  result.symmetric = graph::is_symmetric(graph);
  graph::Csr storage;
  const graph::Csr& neighbours = neighbours_of(graph, result.symmetric, storage);
  log_phase("symmetric view", timer);
  const Assignment assignment = assign_ordered_parts(graph, neighbours, is_train, options, timer);
  result.scheme = assignment.scheme;
  result.repaired_parts = assignment.repaired;
  result.order = order_nodes(neighbours, assignment.part, options.parts, graph::find_levels(graph, is_train),
                             options.threads);
  storage = {};
  log_phase("order of nodes", timer);
  result.in = graph::relabel(graph, result.order.new_ids());
  graph = {};
  if (!result.symmetric) result.out = graph::transpose(result.in);
  log_phase("relabelling", timer);
  result.tiles = cut_tiles(result.order, options.tile_rows, options.tiles_per_group);
  result.quality = measure_quality(result.in, result.out, result.symmetric, result.order,
                                   by_new_id(is_train, result.order.original_id));
  log_phase("tiles and quality", timer);
  return result;
}

}  // namespace halo::partition
