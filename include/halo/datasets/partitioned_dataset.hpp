#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "halo/base/ids.hpp"

namespace halo::datasets {

// A partitioned dataset is a folder of global arrays; part k owns the nodes [part_offsets[k],
// part_offsets[k + 1]).
//
//   partition.json      the manifest below, written last: a folder without it is unfinished
//   part_offsets.npy    int64 [K + 1]
//   tile_offsets.npy    int64 [tiles + 1]   node ids; a tile never crosses a part, its interior / boundary line
//                       or a level (halo/graph/row_levels.hpp)
//   group_offsets.npy   int64 [groups + 1]  tile numbers; a group never crosses them either
//   checksums.npy       uint64 [sliced files, K]  XXH3-64 of each part's slice; the row of a file is its
//                       `checksum_row` in the manifest
//   indptr.npy          int64 [N + 1]       in-edges; slice of part k: its nodes + 1
//   indices.npy         int32 (int64 where N > 2^31 - 1) [E], each row ascending
//   edge_weight.npy     float32 [E]         only where weighted
//   out_indptr.npy, out_indices.npy, out_edge_weight.npy   only where not symmetric
//   features.npy        float32 [N, F]      only where F > 0
//   labels.npy          by task: int32 [N], -1 unknown; uint8 [N, C], 0 / 1; float32 [N, C], NaN unknown;
//                       none for link prediction
//   split.npy           uint8 [N]: Split
//   original_id.npy     int64 [N]
//   val_links.npy, test_links.npy           int64 [M, 3 + n], link prediction only: place in the dataset's
//                       list, first end u, second end v of an edge, then n nodes v' such that (u, v') is
//                       none; sorted by the part of u and place
//   val_link_offsets.npy, test_link_offsets.npy   int64 [K + 1]: rows of part k, by the part of u

inline constexpr int kPartitionFormatVersion = 1;
inline constexpr const char* kPartitionFormatName = "halognn-partitioned-dataset";
inline constexpr const char* kManifestName = "partition.json";

// Tasks: what a dataset is there to learn, and so what its labels are.
inline constexpr const char* kNodeClassification = "node_classification";  ///< one class for each node
inline constexpr const char* kMultiLabel = "multi_label";                  ///< any of the classes, or none
inline constexpr const char* kNodeRegression = "node_regression";          ///< one or several numbers
inline constexpr const char* kLinkPrediction = "link_prediction";  ///< which edges there are; no labels
inline constexpr std::array kTasks = {kNodeClassification, kMultiLabel, kNodeRegression, kLinkPrediction};

enum class Split : std::uint8_t { kNone = 0, kTrain = 1, kValidation = 2, kTest = 3 };

/// One sliced file of the folder, as the manifest records it.
struct PartitionedFile {
  std::string name;   ///< "indices.npy"
  std::string dtype;  ///< NumPy's, "<i4"
  std::vector<std::int64_t> shape;
  std::int64_t bytes = 0;         ///< whole file, header included
  std::int64_t checksum_row = 0;  ///< row of checksums.npy
};

/// Edges held out for link prediction, and how many non-edges come with each.
struct LinkCounts {
  std::int64_t validation = 0;
  std::int64_t test = 0;
  std::int64_t negatives = 0;

  /// Of val_links.npy and test_links.npy.
  std::int64_t cols() const { return 3 + negatives; }
};

struct PartitionManifest {
  int format_version = kPartitionFormatVersion;
  std::string name;  ///< of the dataset
  NodeId num_nodes = 0;
  EdgeId num_edges = 0;           ///< entries of indices.npy
  std::int64_t feature_cols = 0;  ///< 0: the dataset has no features
  std::int32_t num_classes = 0;   ///< columns of the targets of a regression
  std::string task = kNodeClassification;
  bool symmetric = true;
  bool weighted = false;
  PartId parts = 0;
  std::int64_t tile_rows = 0;
  std::int64_t tiles_per_group = 0;
  std::int64_t train_nodes = 0, val_nodes = 0, test_nodes = 0;
  LinkCounts links;    ///< zero but for link prediction
  std::string run_id;  ///< make_run_id() of all checksums: names this very partitioning
  std::map<std::string, PartitionedFile> files;             ///< by name; the sliced ones
  std::map<std::string, std::string> whole_file_checksums;  ///< XXH3-64, hex, of the unsliced .npy files
  nlohmann::json options;  ///< how gnn_partition was called, seed and METIS version included
  nlohmann::json quality;  ///< the report of gnn_partition
};

nlohmann::json to_json(const PartitionManifest& manifest);
/// Writes partition.json under a temporary name, flushes, renames.
void write_manifest(const std::filesystem::path& folder, const PartitionManifest& manifest);
/// Reads and checks partition.json, that every file it names is there with the recorded length, and the
/// checksums of the unsliced files (so a file of another run is found out). InputError says what is wrong: no
/// folder, an unfinished one, not a partitioned dataset, another format version, a missing or cut file.
PartitionManifest read_manifest(const std::filesystem::path& folder);
/// Parses what read_manifest reads, without touching other files (rank 0 reads the text once for all).
/// `folder` is for messages.
PartitionManifest parse_manifest(const std::string& text, const std::filesystem::path& folder);

/// Names of the sliced files that a dataset with this task and these properties has, in the order of their
/// checksum rows.
std::vector<std::string> sliced_file_names(const PartitionManifest& manifest);

/// Checksum (XXH3-64) of a slice's bytes, as in checksums.npy.
std::uint64_t slice_checksum(const void* data, std::size_t bytes);
/// Checksum of a whole file, header included, as in whole_file_checksums: XXH3-64 as 16 hex digits.
std::string file_checksum(const std::filesystem::path& path);
/// XXH3-128, 32 hex digits, over the entries of checksums.npy and the hex digits of the other checksums by
/// file name.
std::string make_run_id(std::span<const std::uint64_t> checksums,
                        const std::map<std::string, std::string>& whole_file_checksums);

/// slice_checksum() of bytes that come in pieces.
class ChecksumStream {
 public:
  ChecksumStream();
  ~ChecksumStream();
  ChecksumStream(ChecksumStream&&) noexcept;
  ChecksumStream& operator=(ChecksumStream&&) noexcept;

  void update(const void* data, std::size_t bytes);
  /// Checksum of all bytes since the last call; starts anew.
  std::uint64_t take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halo::datasets
