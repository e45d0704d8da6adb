#include "local_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "halo/base/checked_cast.hpp"
#include "partition_folder.hpp"

namespace halo::dist {
namespace {

template <typename Index>
void check_row(std::span<const Index> row, NodeId node, NodeId num_nodes, const std::filesystem::path& file) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] < 0 || row[i] >= num_nodes) {
      refuse(file, "names a node that does not exist", fmt::format("neighbour {} of node {}", row[i], node),
             fmt::format("ids in [0, {})", num_nodes));
    }
    if (i > 0 && row[i] < row[i - 1]) {
      refuse(file, "has a row that is not ascending",
             fmt::format("neighbour {} after {} of node {}", row[i], row[i - 1], node),
             "rows sorted by node id");
    }
  }
}

/// The distinct ids among many: sorted and made unique whenever as many new ones wait as are known, so that
/// memory stays within a few times the result.
class DistinctIds {
 public:
  void add(NodeId id) {
    if (!ids_.empty() && ids_.back() == id) return;
    ids_.push_back(id);
    if (ids_.size() >= limit_) compact();
  }
  std::vector<NodeId> take() {
    compact();
    ids_.shrink_to_fit();
    return std::move(ids_);
  }

 private:
  void compact() {
    std::sort(ids_.begin() + known_, ids_.end());
    std::inplace_merge(ids_.begin(), ids_.begin() + known_, ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
    known_ = static_cast<std::ptrdiff_t>(ids_.size());
    limit_ = std::max(kLeast, 2 * ids_.size());
  }
  static constexpr std::size_t kLeast = std::size_t{1} << 16;
  std::vector<NodeId> ids_;  ///< [0, known_) sorted and distinct, then new ones
  std::ptrdiff_t known_ = 0;
  std::size_t limit_ = kLeast;
};

/// Local ids of one row, which ascends, so that each search starts where the last one ended.
template <typename Index>
void map_row(std::span<const Index> row, RowRange owned, std::span<const NodeId> halo, LocalId* columns) {
  auto from = halo.begin();
  for (std::size_t i = 0; i < row.size(); ++i) {
    const NodeId id = row[i];
    if (id >= owned.begin && id < owned.end) {
      columns[i] = static_cast<LocalId>(id - owned.begin);
    } else {
      from = std::lower_bound(from, halo.end(), id);
      columns[i] = static_cast<LocalId>(owned.size() + (from - halo.begin()));
    }
  }
}

}  // namespace

void localise_indptr(std::span<EdgeId> indptr, RowRange edges, const std::filesystem::path& file) {
  if (indptr.front() != edges.begin || indptr.back() != edges.end) {
    refuse(file, "does not cover the edges of its part",
           fmt::format("{} to {}", indptr.front(), indptr.back()),
           fmt::format("{} to {}", edges.begin, edges.end));
  }
  for (std::size_t i = 1; i < indptr.size(); ++i) {
    if (indptr[i] < indptr[i - 1]) {
      refuse(file, "is not ascending", fmt::format("{} after {}", indptr[i], indptr[i - 1]),
             "ascending entries");
    }
  }
  for (EdgeId& offset : indptr) offset -= edges.begin;
}

template <typename Index>
LocalRows localise_rows(std::vector<EdgeId> indptr, std::vector<Index> indices, RowRange owned,
                        NodeId num_nodes, const std::filesystem::path& file) {
  const auto row_of = [&](std::int64_t i) {
    return std::span<const Index>(indices).subspan(at(indptr[at(i)]), at(indptr[at(i) + 1] - indptr[at(i)]));
  };
  DistinctIds distinct;
  for (std::int64_t i = 0; i < owned.size(); ++i) {
    check_row(row_of(i), owned.begin + i, num_nodes, file);
    for (const NodeId id : row_of(i)) {
      if (id < owned.begin || id >= owned.end) distinct.add(id);
    }
  }
  LocalRows rows;
  rows.halo = distinct.take();
  checked_cast<LocalId>(owned.size() + static_cast<std::int64_t>(rows.halo.size()),
                        "owned + halo nodes of one rank");
  rows.adjacency.halo = static_cast<LocalId>(rows.halo.size());

  constexpr bool kInPlace = std::is_same_v<Index, LocalId>;
  std::vector<LocalId> wide_columns(kInPlace ? 0 : indices.size());
  LocalId* columns = wide_columns.data();
  if constexpr (kInPlace) columns = indices.data();
  for (std::int64_t i = 0; i < owned.size(); ++i)
    map_row(row_of(i), owned, rows.halo, columns + indptr[at(i)]);
  if constexpr (kInPlace) {
    rows.adjacency.columns = std::move(indices);
  } else {
    rows.adjacency.columns = std::move(wide_columns);
  }
  rows.adjacency.indptr = std::move(indptr);
  return rows;
}
template LocalRows localise_rows(std::vector<EdgeId>, std::vector<std::int32_t>, RowRange, NodeId,
                                 const std::filesystem::path&);
template LocalRows localise_rows(std::vector<EdgeId>, std::vector<std::int64_t>, RowRange, NodeId,
                                 const std::filesystem::path&);

}  // namespace halo::dist
