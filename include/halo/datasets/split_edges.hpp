#pragma once

#include <cstdint>

#include "halo/datasets/dataset.hpp"

namespace halo::datasets {

struct SplitEdgesOptions {
  double validation = 0.05;  ///< share of the edges
  double test = 0.10;
  std::int64_t negatives = 1;  ///< non-edges for each held-out edge
  std::uint64_t seed = 0;
};

/// Makes a link prediction dataset: draws validation and test edges at random, takes them out of the graph
/// and gives each (u, v) of them `negatives` pairs (u, v') that are no edges of the whole graph, v' uniform.
///
/// A pair of nodes counts once, however often its edge stands there, and is taken out whole; where every edge
/// has its reverse, both directions go, and either end may come first. Loops are never drawn and stay. Labels
/// and node splits are dropped. A function of the dataset and the options. InputError on options out of
/// range, on a dataset that holds edges out already, or where a drawn node has an edge to every other one.
void split_edges(Dataset& dataset, const SplitEdgesOptions& options);

}  // namespace halo::datasets
