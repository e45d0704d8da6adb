#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "halo/base/ids.hpp"
#include "halo/mpi/communicator.hpp"

namespace halo::train {

// clang-format off
// A checkpoint is a folder RUN/checkpoints/epoch-000123 that appears under its name when it is whole:
//
//   state.json    {"format", "format_version", "state": ..., "files": {name: checksum}, "checksum": of all that}
//   <name>.npy    float32 [n], one for each whole array; XXH3-64 of the file
//   <name>.npy    float32 [N, cols], one for each sharded array, rows in the order of node ids; the checksum is the
//                 sum over all rows of the XXH3-64 of the row, seeded with the node id: any ranks give it
// clang-format on

/// An array that every rank holds alike.
struct WholeArray {
  std::string name;
  std::span<float> values;
};

/// A matrix with a row for each node, of which each rank holds those of the nodes it owns.
struct ShardedArray {
  std::string name;
  std::int64_t cols = 0;
  std::span<float> rows;  ///< [owned x cols]
};

struct CheckpointArrays {
  std::vector<WholeArray> whole;
  std::vector<ShardedArray> sharded;
};

/// Which rows of sharded arrays are this rank's.
struct NodeSlice {
  NodeId num_nodes = 0;  ///< of the graph
  RowRange owned{};
};

/// The checkpoints of one run.
class CheckpointFolder {
 public:
  /// `path`: RUN/checkpoints; it need not be there.
  CheckpointFolder(const mpi::Communicator& communicator, std::filesystem::path path, NodeSlice slice);

  /// Collective. Writes the checkpoint of `epoch` and, when it is safe on disk, removes all but the `keep`
  /// newest ones up to it and any of a later epoch (which a resumed run has found damaged). Returns what went
  /// wrong, "" if nothing did, the same on every rank: the checkpoints that were there then still are.
  std::string write(std::int64_t epoch, const nlohmann::json& state, const CheckpointArrays& arrays,
                    std::int64_t keep) const;

  /// Collective. Epochs of the checkpoints that are there, newest first; damaged ones too.
  std::vector<std::int64_t> epochs() const;

  /// Collective. Reads the newest checkpoint that is whole, says (rank 0) of those that are not why, and
  /// which one it takes. `arrays_for` gets the state and says where to put its arrays; it throws InputError
  /// on the state of something else, which passes through to the caller. Returns the state; null if there is
  /// none.
  nlohmann::json read_newest(
      const std::function<CheckpointArrays(const nlohmann::json& state)>& arrays_for) const;

 private:
  std::filesystem::path path_of(std::int64_t epoch) const;
  nlohmann::json read_state(std::int64_t epoch) const;
  void prune(std::int64_t epoch, std::int64_t keep) const;
  std::string failure_of(const std::function<void()>& work) const;

  const mpi::Communicator& communicator_;
  std::filesystem::path path_;
  NodeSlice slice_;
};

}  // namespace halo::train
