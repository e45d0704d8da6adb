#pragma once

// What the generators and split_edges() share.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "halo/base/counter_rng.hpp"
#include "halo/datasets/dataset.hpp"
#include "halo/datasets/generate.hpp"

namespace halo::datasets {

/// Nodes of generated graphs have 31-bit ids: half the memory of the intermediate lists.
using SmallId = std::int32_t;

struct SmallEdge {
  SmallId source = 0;
  SmallId target = 0;
};
/// Lists made by independent pieces of work.
using EdgeBlocks = std::vector<std::vector<SmallEdge>>;

enum class Direction { kOneWay, kBothWays };

/// What random numbers are for; two purposes never share one.
enum class Purpose : std::uint64_t {
  kOrder,
  kEdges,
  kLabels,
  kClassMeans,
  kNoise,
  kSplit,
  kHeldOut,
  kNegatives
};

inline CounterRng random_numbers(std::uint64_t seed, Purpose purpose) {
  return {seed, 0, static_cast<std::uint64_t>(purpose)};
}

/// InputError unless `good`.
void require(bool good, const std::string& option, double found, const std::string& expected);
void check_node_count(std::int64_t nodes, const std::string& option);

/// A random order of [0, count).
std::vector<SmallId> random_order(std::int64_t count, std::uint64_t seed, Purpose purpose);

/// Fills sources and targets from the blocks, which it frees: sorted by (source, target), without loops and
/// duplicates.
void set_edges(Dataset& dataset, EdgeBlocks blocks, Direction direction, int threads);

/// Adds features that carry the labels, and the split; dataset.labels and num_classes are there.
void plant(Dataset& dataset, const PlantedOptions& options);

}  // namespace halo::datasets
