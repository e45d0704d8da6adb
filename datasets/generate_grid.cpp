#include "generate_parts.hpp"

namespace halo::datasets {

Dataset generate_grid(const GridOptions& options) {
  check_node_count(options.rows, "--rows");
  check_node_count(options.cols, "--cols");
  check_node_count(options.rows * options.cols, "--rows x --cols");
  Dataset dataset;
  dataset.name = "grid";
  dataset.num_nodes = options.rows * options.cols;
  dataset.num_classes = 4;
  EdgeBlocks blocks(1);
  for (std::int64_t row = 0; row < options.rows; ++row) {
    for (std::int64_t col = 0; col < options.cols; ++col) {
      const auto node = static_cast<SmallId>(row * options.cols + col);
      if (col + 1 < options.cols) blocks[0].push_back({node, node + 1});
      if (row + 1 < options.rows) blocks[0].push_back({node, static_cast<SmallId>(node + options.cols)});
      const bool lower = 2 * row >= options.rows, right = 2 * col >= options.cols;
      dataset.labels.push_back((lower ? 2 : 0) + (right ? 1 : 0));
    }
  }
  set_edges(dataset, std::move(blocks), Direction::kBothWays, options.planted.threads);
  plant(dataset, options.planted);
  return dataset;
}

}  // namespace halo::datasets
