#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "halo/datasets/partitioned_dataset.hpp"
#include "halo/dist/ownership.hpp"
#include "halo/mpi/communicator.hpp"

namespace halo::dist {

/// Throws the InputError of a partitioned dataset whose `file` is not what its manifest promises.
[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& what, const std::string& found,
                         const std::string& expected);

/// What every rank knows of a partitioned dataset before it reads its slices: counts and bounds, O(K + tiles)
/// of them, nothing for each node.
struct PartitionFolder {
  std::filesystem::path path;
  datasets::PartitionManifest manifest;
  std::vector<NodeId> part_offsets;             ///< K + 1
  std::vector<NodeId> tile_offsets;             ///< tiles + 1, node ids
  std::vector<std::int64_t> group_offsets;      ///< groups + 1, tile numbers
  std::vector<std::int64_t> checksums;          ///< [sliced files, K], the bits of the unsigned values
  std::vector<EdgeId> in_edge_offsets;          ///< K + 1: indptr at the part offsets
  std::vector<EdgeId> out_edge_offsets;         ///< the same of out_indptr; empty where symmetric
  std::vector<std::int64_t> val_link_offsets;   ///< K + 1: rows of val_links; empty but for link prediction
  std::vector<std::int64_t> test_link_offsets;  ///< the same of test_links
  std::map<std::string, std::int64_t> data_offsets;  ///< where the elements of each sliced file begin, bytes

  /// Elements of `file` that belong to the parts [first, last).
  RowRange elements_of(const std::string& file, PartId first, PartId last) const;
  /// Rows + edges of each part: what it costs to work on it.
  std::vector<std::int64_t> work() const;
};

/// Reads and checks the manifest and the small arrays. InputError on any problem.
PartitionFolder read_partition_folder(const std::filesystem::path& path);

/// Collective. Rank 0 reads and checks the manifest and the small arrays; all ranks get them. Any problem is
/// the same InputError on all ranks.
PartitionFolder open_partition_folder(const mpi::Communicator& communicator,
                                      const std::filesystem::path& path);

/// Reads this rank's slices of the sliced files, collectively.
class SliceReader {
 public:
  SliceReader(const mpi::Communicator& communicator, const PartitionFolder& folder,
              const Ownership& ownership);

  /// Elements of this rank's slice within the file. Local.
  RowRange range(const std::string& file) const { return folder_.elements_of(file, first_part_, last_part_); }
  /// Collective. Fills `out` (range(file).size() elements) and compares the bytes of every part with its
  /// checksum; what does not fit is the same InputError on all ranks.
  template <typename T>
  void read(const std::string& file, std::span<T> out) const {
    read_bytes(file, std::as_writable_bytes(out), sizeof(T));
  }

 private:
  void read_bytes(const std::string& file, std::span<std::byte> out, std::size_t element_bytes) const;
  void check_parts(const std::string& file, std::span<const std::byte> bytes,
                   std::size_t element_bytes) const;

  const mpi::Communicator& communicator_;
  const PartitionFolder& folder_;
  PartId first_part_;
  PartId last_part_;
};

}  // namespace halo::dist
