#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "halo/datasets/npy_array.hpp"
#include "partition_folder.hpp"

namespace halo::dist {

/// The rows of one direction of edges in their files, read piece by piece, checked as load_partition() does.
class EdgeStream {
 public:
  /// `prefix` "" for in-edges, "out_" for out-edges.
  EdgeStream(const PartitionFolder& folder, const std::string& prefix)
      : num_nodes_(folder.manifest.num_nodes),
        indptr_file_(folder.path / (prefix + "indptr.npy")),
        indices_file_(folder.path / (prefix + "indices.npy")),
        indptr_(datasets::open_file(indptr_file_)),
        indices_(datasets::open_file(indices_file_)) {}

  /// use(row, neighbour) for every edge of the rows `nodes`, in order.
  template <typename Use>
  void for_each(RowRange nodes, const Use& use) {
    for (NodeId first = nodes.begin; first < nodes.end; first += kRows) {
      const RowRange rows = {first, std::min(first + kRows, nodes.end)};
      offsets_.resize(at(rows.size() + 1));
      indptr_.read_rows<EdgeId>({rows.begin, rows.end + 1}, offsets_);
      check_offsets();
      std::size_t row = 0;
      for (EdgeId begin = offsets_.front(); begin < offsets_.back();) {
        const EdgeId end = std::min(begin + kEdges, offsets_.back());
        neighbours_.resize(at(end - begin));
        indices_.read_rows<NodeId>({begin, end}, neighbours_);
        for (EdgeId e = begin; e < end; ++e) {
          while (e >= offsets_[row + 1]) ++row;
          const NodeId neighbour = neighbours_[at(e - begin)];
          if (neighbour < 0 || neighbour >= num_nodes_) refuse_neighbour(neighbour);
          use(rows.begin + static_cast<NodeId>(row), neighbour);
        }
        begin = end;
      }
    }
  }

 private:
  static constexpr NodeId kRows = NodeId{1} << 15;
  static constexpr EdgeId kEdges = EdgeId{1} << 17;

  void check_offsets() const {
    if (std::ranges::is_sorted(offsets_) && offsets_.front() >= 0 && offsets_.back() <= indices_.shape()[0])
      return;
    refuse(indptr_file_, "is not ascending", "entries that do not ascend within the edges",
           "ascending entries");
  }
  [[noreturn]] void refuse_neighbour(NodeId neighbour) const {
    refuse(indices_file_, "names a node that does not exist", fmt::format("{}", neighbour),
           fmt::format("ids in [0, {})", num_nodes_));
  }

  NodeId num_nodes_;
  std::filesystem::path indptr_file_;
  std::filesystem::path indices_file_;
  datasets::NpyArray indptr_;
  datasets::NpyArray indices_;
  std::vector<EdgeId> offsets_;
  std::vector<NodeId> neighbours_;
};

}  // namespace halo::dist
