#include "halo/dist/partition_scan.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "edge_stream.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/dist/ownership.hpp"
#include "partition_folder.hpp"

namespace halo::dist {

/// A set of nodes, a bit for each.
class PartitionScan::NodeSet {
 public:
  explicit NodeSet(NodeId nodes) : words_(at((nodes + kBits - 1) / kBits), 0) {}
  void add(NodeId node) { words_[at(node / kBits)] |= std::uint64_t{1} << (node % kBits); }
  /// use(node), ascending; empties the set.
  template <typename Use>
  void take_each(const Use& use) {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t bits = std::exchange(words_[w], 0); bits != 0; bits &= bits - 1) {
        use(static_cast<NodeId>(w) * kBits + std::countr_zero(bits));
      }
    }
  }

 private:
  static constexpr NodeId kBits = 64;
  std::vector<std::uint64_t> words_;
};

namespace {

/// Notes in the counts of all ranks that `rank` needs the rows of `halo`.
template <typename Halo>
void add_halo(Rank rank, const Ownership& ownership, std::span<const std::uint8_t> level, Halo& halo,
              const std::vector<graph::EdgeCounts*>& counts) {
  Rank last = -1;
  halo.take_each([&](NodeId node) {
    const Rank owner = ownership.owner_of(node);
    graph::EdgeCounts& sender = *counts[at(owner)];
    ++counts[at(rank)]->halo[level[at(node)]];
    ++sender.sent[level[at(node)]];
    if (std::exchange(last, owner) == owner) return;
    ++counts[at(rank)]->receive_ranks;
    ++sender.send_ranks;
  });
}

std::vector<std::uint8_t> training_nodes(const std::filesystem::path& folder) {
  auto split = datasets::read_npy<std::uint8_t>(folder / "split.npy");
  std::ranges::transform(split, split.begin(), [](std::uint8_t of_node) {
    return static_cast<std::uint8_t>(of_node == static_cast<std::uint8_t>(datasets::Split::kTrain));
  });
  return split;
}

}  // namespace

PartitionScan::PartitionScan(const std::filesystem::path& folder, Training training)
    : folder_(std::make_unique<PartitionFolder>(read_partition_folder(folder))),
      has_levels_(training.levels),
      level_(at(folder_->manifest.num_nodes), 0) {
  if (training.levels) find_levels(training);
}
PartitionScan::~PartitionScan() = default;
PartitionScan::PartitionScan(PartitionScan&&) noexcept = default;
PartitionScan& PartitionScan::operator=(PartitionScan&&) noexcept = default;

const datasets::PartitionManifest& PartitionScan::manifest() const {
  return folder_->manifest;
}

/// As graph::mark_levels() does on ranks: tiles and levels are the dataset's, whoever owns them.
void PartitionScan::find_levels(Training training) {
  std::vector<std::uint8_t> starts = training_nodes(folder_->path);
  std::ranges::transform(starts, level_.begin(),
                         [](std::uint8_t start) { return start != 0 ? std::uint8_t{0} : graph::kLastLevel; });
  if (training.inductive) training_ = std::move(starts);
  level_tiles();
  for (std::uint8_t level = 0; level + 1 < graph::kLastLevel; ++level) {
    add_level(level);
    level_tiles();
  }
}

void PartitionScan::level_tiles() {
  const auto& offsets = folder_->tile_offsets;
  for (std::size_t tile = 0; tile + 1 < offsets.size(); ++tile) {
    const auto rows = std::span(level_).subspan(at(offsets[tile]), at(offsets[tile + 1] - offsets[tile]));
    std::ranges::fill(rows, *std::ranges::min_element(rows));
  }
}

void PartitionScan::add_level(std::uint8_t level) {
  const std::uint8_t next = level + 1;
  EdgeStream(*folder_, folder_->manifest.symmetric ? "" : "out_")
      .for_each({0, folder_->manifest.num_nodes}, [&](NodeId row, NodeId target) {
        if (level_[at(row)] > next && level_[at(target)] <= level && is_training_edge(row, target))
          level_[at(row)] = next;
      });
}

bool PartitionScan::is_training_edge(NodeId row, NodeId column) const {
  return training_.empty() || (training_[at(row)] != 0 && training_[at(column)] != 0);
}

std::vector<graph::ShareCounts> PartitionScan::count_shares(int ranks) const {
  const Ownership ownership = assign_parts(folder_->part_offsets, folder_->work(), ranks);
  const bool symmetric = folder_->manifest.symmetric;
  std::vector<graph::ShareCounts> shares(at(ranks));
  std::vector<graph::EdgeCounts*> in, out;
  for (graph::ShareCounts& share : shares) {
    share.symmetric = symmetric;
    share.has_levels = has_levels_;
    in.push_back(&share.in);
    out.push_back(&share.out);
  }
  NodeSet halo(folder_->manifest.num_nodes);
  for (Rank rank = 0; rank < ranks; ++rank) {
    count_rows(ownership, rank, shares[at(rank)]);
    count_edges("", ownership.nodes_of(rank), halo, shares[at(rank)].in);
    add_halo(rank, ownership, level_, halo, in);
    if (symmetric) continue;
    count_edges("out_", ownership.nodes_of(rank), halo, shares[at(rank)].out);
    add_halo(rank, ownership, level_, halo, out);
  }
  if (symmetric) {
    for (graph::ShareCounts& share : shares) share.out = share.in;
  }
  return shares;
}

void PartitionScan::count_rows(const Ownership& ownership, Rank rank, graph::ShareCounts& share) const {
  const RowRange owned = ownership.nodes_of(rank);
  share.owned = owned.size();
  const auto& offsets = folder_->tile_offsets;
  const auto tile_at = [&](NodeId node) { return std::ranges::lower_bound(offsets, node) - offsets.begin(); };
  const RowRange tiles = {tile_at(owned.begin), tile_at(owned.end)};
  for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
    const RowRange rows = {offsets[at(tile)] - owned.begin, offsets[at(tile) + 1] - owned.begin};
    share.tiles.push_back({.rows = rows, .level = level_[at(offsets[at(tile)])]});
  }
  const auto& groups = folder_->group_offsets;
  share.groups = std::ranges::lower_bound(groups, tiles.end) - std::ranges::lower_bound(groups, tiles.begin);
  if (folder_->val_link_offsets.empty()) return;
  const auto first = at(ownership.first_part[at(rank)]);
  const auto last = at(ownership.first_part[at(rank) + 1]);
  share.val_links = folder_->val_link_offsets[last] - folder_->val_link_offsets[first];
  share.test_links = folder_->test_link_offsets[last] - folder_->test_link_offsets[first];
}

/// Leaves the nodes of other ranks that are needed in `halo`.
void PartitionScan::count_edges(const std::string& prefix, RowRange owned, NodeSet& halo,
                                graph::EdgeCounts& counts) const {
  EdgeStream(*folder_, prefix).for_each(owned, [&](NodeId row, NodeId column) {
    ++counts.edges;
    if (is_training_edge(row, column)) ++counts.training[level_[at(row)]][level_[at(column)]];
    if (column < owned.begin || column >= owned.end) halo.add(column);
  });
}

RowSample PartitionScan::sample(EdgeId edges) const {
  const auto& offsets = folder_->tile_offsets;
  const auto tiles = static_cast<std::int64_t>(offsets.size()) - 1;
  const EdgeId all = folder_->manifest.num_edges;
  const std::int64_t step = std::max<std::int64_t>(1, all / std::max<EdgeId>(1, edges));
  EdgeStream stream(*folder_, "");
  RowSample sample;
  for (std::int64_t tile = step / 2; tile < tiles; tile += step) {
    const RowRange rows = {offsets[at(tile)], offsets[at(tile) + 1]};
    const std::size_t before = sample.indptr.size();
    sample.indptr.resize(before + at(rows.size()), 0);
    stream.for_each(rows, [&](NodeId row, NodeId neighbour) {
      ++sample.indptr[before + at(row - rows.begin)];
      sample.neighbours.push_back(neighbour);
    });
    for (std::size_t k = before; k < sample.indptr.size(); ++k) sample.indptr[k] += sample.indptr[k - 1];
  }
  return sample;
}

}  // namespace halo::dist
