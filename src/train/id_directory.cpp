#include "id_directory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "halo/base/error.hpp"
#include "halo/mpi/exchange.hpp"

namespace halo::train {

IdDirectory::IdDirectory(const mpi::Communicator& communicator, NodeId num_nodes, NodeId first_node,
                         std::span<const NodeId> original_ids)
    : communicator_(communicator), block_(num_nodes / communicator.size() + 1) {
  const RowRange mine = {std::min(block_ * communicator.rank(), num_nodes),
                         std::min(block_ * (communicator.rank() + 1), num_nodes)};
  std::vector<std::vector<std::int64_t>> entries(at(communicator.size()));
  for (std::size_t i = 0; i < original_ids.size(); ++i) {
    auto& of_holder = entries[at(holder_of(original_ids[i]))];
    of_holder.insert(of_holder.end(), {original_ids[i], first_node + static_cast<NodeId>(i)});
  }
  const mpi::Received received = mpi::send_to_ranks(communicator, entries);
  communicator.agree([&] {
    node_of_.assign(at(mine.size()), -1);
    for (std::size_t k = 0; k < received.values.size(); k += 2) {
      NodeId& node = node_of_[at(received.values[k] - mine.begin)];
      if (node >= 0) throw Error(fmt::format("two nodes have the original id {}", received.values[k]));
      node = received.values[k + 1];
    }
    if (std::ranges::find(node_of_, -1) != node_of_.end()) throw Error("an original id has no node");
  });
}

std::vector<NodeId> IdDirectory::look_up(std::span<const NodeId> original_ids) const {
  std::vector<NodeId> distinct(original_ids.begin(), original_ids.end());
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<std::int64_t> offsets{0};
  for (Rank rank = 0; rank < communicator_.size(); ++rank)
    offsets.push_back(std::ranges::lower_bound(distinct, block_ * (rank + 1)) - distinct.begin());
  mpi::Received asked = mpi::all_to_all(communicator_, distinct, offsets);
  for (NodeId& id : asked.values) id = node_of_[at(id - block_ * communicator_.rank())];
  // Answers come back by holder and so in the order of `distinct`.
  const mpi::Received answers = mpi::all_to_all(communicator_, asked.values, asked.offsets);
  std::vector<NodeId> nodes;
  nodes.reserve(original_ids.size());
  for (const NodeId id : original_ids)
    nodes.push_back(answers.values[at(std::ranges::lower_bound(distinct, id) - distinct.begin())]);
  return nodes;
}

}  // namespace halo::train
