#include <algorithm>
#include <cmath>

#include "generate_parts.hpp"
#include "halo/base/parallel.hpp"

namespace halo::datasets {
namespace {

// The Graph500 benchmark's probabilities of the four quadrants of the adjacency matrix; the fourth takes the
// rest.
constexpr double kA = 0.57, kB = 0.19, kC = 0.19;
constexpr std::int64_t kEdgesPerBlock = 1 << 16;

/// Descends `scale` times into a quadrant: each choice gives one bit of both ids.
SmallEdge draw_edge(RandomStream stream, std::int32_t scale) {
  SmallEdge edge;
  for (std::int32_t level = 0; level < scale; ++level) {
    const double where = stream.uniform();
    const bool lower = where >= kA + kB;
    const bool right = lower ? where >= kA + kB + kC : where >= kA;
    edge.source = 2 * edge.source + (lower ? 1 : 0);
    edge.target = 2 * edge.target + (right ? 1 : 0);
  }
  return edge;
}

}  // namespace

Dataset generate_rmat(const RmatOptions& options) {
  require(options.scale >= 0 && options.scale <= 30, "--scale", options.scale, "0 to 30");
  require(options.edge_factor >= 0 && options.edge_factor <= 4096, "--edge-factor", options.edge_factor,
          "0 to 4096");
  Dataset dataset;
  dataset.name = "rmat";
  dataset.num_nodes = NodeId{1} << options.scale;
  dataset.num_classes = options.classes;
  require(options.classes >= 1 && options.classes <= dataset.num_nodes, "--classes", options.classes,
          "1 to the number of nodes");
  const auto order = random_order(dataset.num_nodes, options.planted.seed, Purpose::kOrder);
  const CounterRng random = random_numbers(options.planted.seed, Purpose::kEdges);
  const auto count =
      static_cast<std::int64_t>(std::llround(options.edge_factor * static_cast<double>(dataset.num_nodes)));
  EdgeBlocks blocks(static_cast<std::size_t>((count + kEdgesPerBlock - 1) / kEdgesPerBlock));
  parallel_for(
      static_cast<std::int64_t>(blocks.size()), options.planted.threads, [&](std::int64_t block, int) {
        auto& edges = blocks[static_cast<std::size_t>(block)];
        const std::int64_t begin = block * kEdgesPerBlock, end = std::min(begin + kEdgesPerBlock, count);
        edges.reserve(static_cast<std::size_t>(end - begin));
        for (std::int64_t i = begin; i < end; ++i) {
          const SmallEdge edge = draw_edge(RandomStream(random.row_key(i)), options.scale);
          edges.push_back(
              {order[static_cast<std::size_t>(edge.source)], order[static_cast<std::size_t>(edge.target)]});
        }
      });
  set_edges(dataset, std::move(blocks), Direction::kBothWays, options.planted.threads);
  const CounterRng labels = random_numbers(options.planted.seed, Purpose::kLabels);
  for (NodeId node = 0; node < dataset.num_nodes; ++node) {
    RandomStream stream(labels.row_key(node));
    dataset.labels.push_back(
        static_cast<std::int32_t>(stream.below(static_cast<std::uint64_t>(options.classes))));
  }
  plant(dataset, options.planted);
  return dataset;
}

}  // namespace halo::datasets
