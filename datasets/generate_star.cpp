#include "generate_parts.hpp"

namespace halo::datasets {

Dataset generate_star(const StarOptions& options) {
  check_node_count(options.nodes, "--nodes");
  Dataset dataset;
  dataset.name = "star";
  dataset.num_nodes = options.nodes;
  dataset.num_classes = 2;
  EdgeBlocks blocks(1);
  for (SmallId leaf = 1; leaf < options.nodes; ++leaf) blocks[0].push_back({0, leaf});
  set_edges(dataset, std::move(blocks), Direction::kBothWays, options.planted.threads);
  dataset.labels.assign(static_cast<std::size_t>(options.nodes), 1);
  dataset.labels[0] = 0;
  plant(dataset, options.planted);
  return dataset;
}

}  // namespace halo::datasets
