#include "partition_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "halo/base/error.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/datasets/npy_array.hpp"

namespace halo::dist {

void refuse(const std::filesystem::path& file, const std::string& what, const std::string& found,
            const std::string& expected) {
  throw InputError({.what = fmt::format("{} {}", file.filename().string(), what),
                    .where = file.string(),
                    .found = found,
                    .expected = expected,
                    .next = "partition the dataset again with gnn_partition"});
}

namespace {

/// Throws unless `offsets` lead from 0 to `last` without a step back (`strict`: without standing still).
void check_offsets(const std::filesystem::path& file, std::span<const std::int64_t> offsets,
                   std::int64_t last, bool strict) {
  if (offsets.size() < 2 || offsets.front() != 0 || offsets.back() != last) {
    refuse(file, "does not cover the graph",
           offsets.empty()
               ? "no entries"
               : fmt::format("{} entries from {} to {}", offsets.size(), offsets.front(), offsets.back()),
           fmt::format("ascending entries from 0 to {}", last));
  }
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1] || (strict && offsets[i] == offsets[i - 1])) {
      refuse(file, "is not ascending", fmt::format("{} after {} at entry {}", offsets[i], offsets[i - 1], i),
             strict ? "strictly ascending entries" : "ascending entries");
    }
  }
}

/// Throws unless every part begins where an entry of `offsets` does.
void check_part_bounds(const std::filesystem::path& file, std::span<const std::int64_t> offsets,
                       std::span<const std::int64_t> part_bounds) {
  for (const std::int64_t bound : part_bounds) {
    if (!std::binary_search(offsets.begin(), offsets.end(), bound)) {
      refuse(file, "crosses a part", fmt::format("no entry {}, where a part begins", bound),
             "an entry at every part's begin");
    }
  }
}

std::vector<std::int64_t> read_vector(const std::filesystem::path& path, std::size_t size) {
  auto values = datasets::read_npy<std::int64_t>(path);
  if (size != 0 && values.size() != size) {
    refuse(path, "has the wrong length", fmt::format("{} entries", values.size()),
           fmt::format("{} entries", size));
  }
  return values;
}

std::vector<std::int64_t> read_link_offsets(const PartitionFolder& folder, const std::string& name,
                                            std::int64_t links) {
  auto offsets = read_vector(folder.path / name, at(folder.manifest.parts) + 1);
  check_offsets(folder.path / name, offsets, links, /*strict=*/false);
  return offsets;
}

std::vector<std::int64_t> read_checksums(const PartitionFolder& folder) {
  const auto path = folder.path / "checksums.npy";
  const auto header = datasets::read_npy_header(path);
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(folder.manifest.files.size()),
                                           folder.manifest.parts};
  if (header.shape != shape || header.dtype() != "<u8" || header.fortran_order) {
    refuse(path, "has the wrong type or shape", header.dtype() + " " + datasets::format_shape(header.shape),
           "<u8 " + datasets::format_shape(shape));
  }
  const auto values = datasets::read_npy<std::uint64_t>(path);
  return {values.begin(), values.end()};
}

/// indptr at the part offsets, so that every rank knows where each part's edges lie.
std::vector<EdgeId> read_edge_offsets(const PartitionFolder& folder, const std::string& name) {
  const auto path = folder.path / name;
  const datasets::NpyArray indptr(datasets::open_file(path));
  std::vector<EdgeId> offsets;
  for (const NodeId node : folder.part_offsets) {
    std::array<EdgeId, 1> offset{};
    indptr.read_rows<EdgeId>({node, node + 1}, offset);
    offsets.push_back(offset[0]);
  }
  check_offsets(path, offsets, folder.manifest.num_edges, /*strict=*/false);
  return offsets;
}

/// Where the elements of a sliced file begin; its own header must say what the manifest says.
std::int64_t read_data_offset(const std::filesystem::path& path, const datasets::PartitionedFile& file) {
  const auto header = datasets::read_npy_header(path);
  if (header.dtype() != file.dtype || header.shape != file.shape || header.fortran_order) {
    refuse(path, "is not the array that partition.json describes",
           header.dtype() + " " + datasets::format_shape(header.shape),
           file.dtype + " " + datasets::format_shape(file.shape) + " in C order");
  }
  return header.data_offset;
}

void read_small_files(PartitionFolder& folder) {
  folder.manifest = datasets::read_manifest(folder.path);
  const datasets::PartitionManifest& manifest = folder.manifest;
  folder.part_offsets = read_vector(folder.path / "part_offsets.npy", at(manifest.parts) + 1);
  check_offsets(folder.path / "part_offsets.npy", folder.part_offsets, manifest.num_nodes, /*strict=*/false);

  const auto tiles_path = folder.path / "tile_offsets.npy";
  folder.tile_offsets = read_vector(tiles_path, 0);
  check_offsets(tiles_path, folder.tile_offsets, manifest.num_nodes, /*strict=*/true);
  check_part_bounds(tiles_path, folder.tile_offsets, folder.part_offsets);

  const auto groups_path = folder.path / "group_offsets.npy";
  folder.group_offsets = read_vector(groups_path, 0);
  check_offsets(groups_path, folder.group_offsets, static_cast<std::int64_t>(folder.tile_offsets.size()) - 1,
                /*strict=*/true);
  std::vector<NodeId> group_nodes;
  for (const std::int64_t tile : folder.group_offsets) group_nodes.push_back(folder.tile_offsets[at(tile)]);
  check_part_bounds(groups_path, group_nodes, folder.part_offsets);

  folder.checksums = read_checksums(folder);
  folder.in_edge_offsets = read_edge_offsets(folder, "indptr.npy");
  if (!manifest.symmetric) folder.out_edge_offsets = read_edge_offsets(folder, "out_indptr.npy");
  if (manifest.task == datasets::kLinkPrediction) {
    folder.val_link_offsets = read_link_offsets(folder, "val_link_offsets.npy", manifest.links.validation);
    folder.test_link_offsets = read_link_offsets(folder, "test_link_offsets.npy", manifest.links.test);
  }
  for (const auto& [name, file] : manifest.files) {
    folder.data_offsets[name] = read_data_offset(folder.path / name, file);
  }
}

/// Collective. Rank 0's vectors to all, their sizes first and then all values in one message.
void broadcast_vectors(const mpi::Communicator& communicator,
                       std::span<std::vector<std::int64_t>* const> vectors) {
  std::vector<std::int64_t> sizes;
  for (const auto* vector : vectors) sizes.push_back(static_cast<std::int64_t>(vector->size()));
  communicator.broadcast(std::as_writable_bytes(std::span(sizes)), 0);
  std::vector<std::int64_t> all;
  for (const auto* vector : vectors) all.insert(all.end(), vector->begin(), vector->end());
  all.resize(at(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0})));
  communicator.broadcast(std::as_writable_bytes(std::span(all)), 0);
  auto next = all.begin();
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    vectors[i]->assign(next, next + sizes[i]);
    next += sizes[i];
  }
}

}  // namespace

PartitionFolder read_partition_folder(const std::filesystem::path& path) {
  PartitionFolder folder;
  folder.path = path;
  read_small_files(folder);
  return folder;
}

PartitionFolder open_partition_folder(const mpi::Communicator& communicator,
                                      const std::filesystem::path& path) {
  PartitionFolder folder;
  folder.path = path;
  std::string text;
  std::vector<std::int64_t> data_offsets;
  communicator.agree([&] {
    if (communicator.rank() != 0) return;
    folder = read_partition_folder(path);
    text = datasets::to_json(folder.manifest).dump();
    for (const auto& [name, offset] : folder.data_offsets) data_offsets.push_back(offset);
  });
  text = communicator.broadcast(text, 0);
  folder.manifest =
      datasets::parse_manifest(text, path);  // of rank 0, which parsed it: cannot fail on one rank only
  const std::array<std::vector<std::int64_t>*, 9> vectors = {
      &folder.part_offsets,     &folder.tile_offsets,      &folder.group_offsets,
      &folder.checksums,        &folder.in_edge_offsets,   &folder.out_edge_offsets,
      &folder.val_link_offsets, &folder.test_link_offsets, &data_offsets};
  broadcast_vectors(communicator, vectors);
  std::size_t next = 0;
  for (const auto& [name, file] : folder.manifest.files) folder.data_offsets[name] = data_offsets[next++];
  return folder;
}

RowRange PartitionFolder::elements_of(const std::string& file, PartId first, PartId last) const {
  const RowRange nodes = {part_offsets[at(first)], part_offsets[at(last)]};
  if (file == "indptr.npy" || file == "out_indptr.npy") return {nodes.begin, nodes.end + 1};
  if (file == "indices.npy" || file == "edge_weight.npy") {
    return {in_edge_offsets[at(first)], in_edge_offsets[at(last)]};
  }
  if (file == "out_indices.npy" || file == "out_edge_weight.npy") {
    return {out_edge_offsets[at(first)], out_edge_offsets[at(last)]};
  }
  RowRange rows = nodes;
  if (file == "val_links.npy") rows = {val_link_offsets[at(first)], val_link_offsets[at(last)]};
  if (file == "test_links.npy") rows = {test_link_offsets[at(first)], test_link_offsets[at(last)]};
  const auto& shape = manifest.files.at(file).shape;
  const std::int64_t cols = shape.size() > 1 ? shape[1] : 1;
  return {rows.begin * cols, rows.end * cols};
}

std::vector<std::int64_t> PartitionFolder::work() const {
  std::vector<std::int64_t> work;
  for (std::size_t k = 0; k + 1 < part_offsets.size(); ++k) {
    std::int64_t total = part_offsets[k + 1] - part_offsets[k] + in_edge_offsets[k + 1] - in_edge_offsets[k];
    if (!out_edge_offsets.empty()) total += out_edge_offsets[k + 1] - out_edge_offsets[k];
    work.push_back(total);
  }
  return work;
}

}  // namespace halo::dist
