#pragma once

#include <vector>

#include "halo/base/ids.hpp"

namespace halo::bench {

inline constexpr int kScale = 20;
inline constexpr std::int64_t kNodes = std::int64_t{1} << kScale;
inline constexpr int kMeanDegree = 32;

/// Neighbour lists of one rank, as the neighbour sum reads them.
struct Graph {
  std::vector<EdgeId> indptr;
  std::vector<LocalId> columns;

  EdgeId num_edges() const { return static_cast<EdgeId>(columns.size()); }
};

/// What a partitioned and locality-ordered graph looks like: kNodes nodes, degrees uniform in [0, 2
/// kMeanDegree]; nine of ten neighbours lie within 1024 ids, one is anywhere. Made at first use.
const Graph& clustered_graph();

/// The same kind of graph with kFewNodes nodes, for kernels that do much for every edge: 2^17 rows of 64
/// columns still lie far beyond the caches of one core.
inline constexpr std::int64_t kFewNodes = std::int64_t{1} << 17;
const Graph& small_clustered_graph();

/// R-MAT with the Graph500 parameters (0.57, 0.19, 0.19, 0.05), ids as generated: few huge rows, hubs at low
/// ids.
const Graph& skewed_graph();

}  // namespace halo::bench
