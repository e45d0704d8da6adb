#include "halo/dist/load_partition.hpp"

#include <algorithm>
#include <utility>

#include "halo/base/checked_cast.hpp"
#include "halo/mpi/communicator.hpp"
#include "halo_values.hpp"
#include "local_rows.hpp"
#include "node_data.hpp"

namespace halo::dist {
namespace {

/// Collective. Rows of one direction: `prefix` "" for in-edges, "out_" for out-edges.
template <typename Index>
LocalRows read_rows(const Source& source, const std::string& prefix) {
  const std::string indptr_file = prefix + "indptr.npy";
  const std::string indices_file = prefix + "indices.npy";
  const std::string weights_file = prefix + "edge_weight.npy";
  const bool weighted = source.folder.manifest.weighted;
  std::vector<EdgeId> indptr;
  std::vector<Index> indices;
  std::vector<float> weights;
  source.communicator.agree([&] {
    indptr = room_for<EdgeId>(source, indptr_file);
    indices = room_for<Index>(source, indices_file);
    if (weighted) weights = room_for<float>(source, weights_file);
  });
  source.reader.read<EdgeId>(indptr_file, indptr);
  source.reader.read<Index>(indices_file, indices);
  if (weighted) source.reader.read<float>(weights_file, weights);

  LocalRows rows;
  source.communicator.agree([&] {
    localise_indptr(indptr, source.reader.range(indices_file), source.folder.path / indptr_file);
    rows = localise_rows(std::move(indptr), std::move(indices), source.owned,
                         source.folder.manifest.num_nodes, source.folder.path / indices_file);
    check_values<float>(source, weights_file, weights, 1, source.reader.range(weights_file).begin, is_finite,
                        "finite edge weights");
    rows.adjacency.weights = std::move(weights);
  });
  return rows;
}

LocalRows read_rows(const Source& source, const std::string& prefix) {
  const bool narrow = source.folder.manifest.files.at(prefix + "indices.npy").dtype == "<i4";
  return narrow ? read_rows<std::int32_t>(source, prefix) : read_rows<std::int64_t>(source, prefix);
}

/// Tiles and groups of the owned nodes, numbered from 0. Parts begin at tiles and groups, so nothing is cut.
void set_tiles(const PartitionFolder& folder, RowRange owned, graph::LocalGraph& graph) {
  const auto& offsets = folder.tile_offsets;
  const auto position = [&](NodeId node) {
    return std::lower_bound(offsets.begin(), offsets.end(), node) - offsets.begin();
  };
  const RowRange tiles = {position(owned.begin), position(owned.end)};
  for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
    graph.tiles.push_back({.rows = {offsets[at(tile)] - owned.begin, offsets[at(tile) + 1] - owned.begin}});
  }
  for (std::size_t group = 0; group + 1 < folder.group_offsets.size(); ++group) {
    const RowRange range = {folder.group_offsets[group], folder.group_offsets[group + 1]};
    if (range.begin < tiles.begin || range.end > tiles.end) continue;
    graph.groups.push_back({.first_tile = static_cast<std::int32_t>(range.begin - tiles.begin),
                            .last_tile = static_cast<std::int32_t>(range.end - tiles.begin)});
  }
}

/// Collective.
Ownership assign(const mpi::Communicator& communicator, const PartitionFolder& folder) {
  Ownership ownership;
  communicator.agree(
      [&] { ownership = assign_parts(folder.part_offsets, folder.work(), communicator.size()); });
  return ownership;
}

/// What is known of a share without reading it.
graph::ShareCounts rows_and_edges(const Source& source, const graph::LocalGraph& graph) {
  graph::ShareCounts counts;
  counts.owned = graph.owned;
  counts.groups = std::ssize(graph.groups);
  counts.tiles = graph.tiles;
  counts.symmetric = graph.symmetric;
  counts.in.edges = source.reader.range("indices.npy").size();
  counts.out.edges = graph.symmetric ? counts.in.edges : source.reader.range("out_indices.npy").size();
  return counts;
}

}  // namespace

LocalPartition load_partition(const mpi::Communicator& communicator, const std::filesystem::path& path,
                              const BeforeReading& before_reading) {
  const PartitionFolder folder = open_partition_folder(communicator, path);
  LocalPartition local;
  local.manifest = folder.manifest;
  local.ownership = assign(communicator, folder);
  const RowRange owned = local.ownership.nodes_of(communicator.rank());
  const Source source = {communicator, folder, owned, SliceReader(communicator, folder, local.ownership)};

  graph::LocalGraph& graph = local.graph;
  graph.global_nodes = folder.manifest.num_nodes;
  graph.global_active = folder.manifest.num_nodes;
  graph.global_edges = folder.manifest.num_edges;
  graph.first_node = owned.begin;
  graph.symmetric = folder.manifest.symmetric;
  communicator.agree(
      [&] { graph.owned = checked_cast<LocalId>(owned.size(), "number of nodes on one rank"); });
  set_tiles(folder, owned, graph);

  if (before_reading) before_reading(folder.manifest, rows_and_edges(source, graph));

  LocalRows in = read_rows(source, "");
  graph.in = std::move(in.adjacency);
  local.in_plan = make_halo_plan(communicator, local.ownership, in.halo);
  local.out_plan = local.in_plan;
  if (!graph.symmetric) {
    LocalRows out = read_rows(source, "out_");
    graph.out_if_directed = std::move(out.adjacency);
    local.out_plan = make_halo_plan(communicator, local.ownership, out.halo);
  }
  read_node_data(source, local);
  graph.in.halo_original_id = halo_values(communicator, local.in_plan, graph.original_id);
  if (!graph.symmetric)
    graph.out_if_directed.halo_original_id = halo_values(communicator, local.out_plan, graph.original_id);
  communicator.agree([&] {
    graph::set_degrees(graph);
    graph::mark_interior_groups(graph);
  });
  return local;
}

}  // namespace halo::dist
