#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halo/base/ids.hpp"
#include "halo/mpi/communicator.hpp"

namespace halo::train {

/// Which node has which original id, spread over the ranks: rank r answers for a block of the original ids,
/// so that no rank holds more than its share.
class IdDirectory {
 public:
  /// Collective. `original_ids` of the nodes first_node, first_node + 1, ... of this rank. Error, on every
  /// rank, unless the ids of all ranks are [0, num_nodes), each once.
  IdDirectory(const mpi::Communicator& communicator, NodeId num_nodes, NodeId first_node,
              std::span<const NodeId> original_ids);

  /// Collective. The node ids of any original ids; duplicates are asked for once.
  std::vector<NodeId> look_up(std::span<const NodeId> original_ids) const;

 private:
  Rank holder_of(NodeId original_id) const { return static_cast<Rank>(original_id / block_); }

  const mpi::Communicator& communicator_;
  NodeId block_ = 1;             ///< ids that one rank answers for
  std::vector<NodeId> node_of_;  ///< of this rank's block
};

}  // namespace halo::train
