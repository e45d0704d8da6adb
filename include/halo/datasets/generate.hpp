#pragma once

#include <cstdint>

#include "halo/datasets/dataset.hpp"

namespace halo::datasets {

// Generators of datasets. The result is a function of the options and the seed alone: random numbers are
// keyed by node or edge, never by thread. Edges come sorted by (source, target) without loops or duplicates.
// InputError on options out of range.

/// Size of a split: below 1 a fraction of the nodes, from 1 on a number of nodes.
struct SplitSizes {
  double train = 0.1;
  double val = 0.2;
  double test = 0.7;
};

/// What all kinds but the karate club share.
struct PlantedOptions {
  /// Columns. Row i is m(label of i) + noise; noise is standard normal in every column, m(c) a random vector
  /// of length `signal` for each class. 0: no features.
  std::int64_t features = 32;
  double signal = 1.0;
  SplitSizes split;  ///< nodes are drawn at random
  std::uint64_t seed = 0;
  int threads = 1;
};

/// Zachary's karate club: 34 nodes, 78 undirected edges, one-hot features, the two factions as labels; the
/// two leaders are the train nodes. (Zachary: "An information flow model for conflict and fission in small
/// groups", 1977.)
Dataset generate_karate();

struct GridOptions {
  std::int64_t rows = 32;
  std::int64_t cols = 32;
  PlantedOptions planted;
};
/// Grid with four neighbours; node (r, c) is r * cols + c; the labels are the four quadrants.
Dataset generate_grid(const GridOptions& options);

struct StarOptions {
  std::int64_t nodes = 1000;
  PlantedOptions planted;
};
/// Node 0 is joined to all others. Labels: 0 the hub, 1 the leaves.
Dataset generate_star(const StarOptions& options);

struct SbmOptions {
  std::int64_t nodes = 2000;
  std::int32_t classes = 5;
  /// Planted communities, a multiple of `classes`; 0: one for each class. Many small ones make a graph with a
  /// good partition.
  std::int32_t communities = 0;
  /// Mean degree (directed: mean in-degree) before loops and duplicates are dropped.
  double degree = 10.0;
  /// Probability that an edge stays in its community, and so in its class; otherwise it goes to a node of
  /// another class.
  double homophily = 0.8;
  bool directed = false;
  /// What is planted in class c of C. kNodeClassification: the label c. kMultiLabel: the labels c and c + 1
  /// (mod C), and every other one with probability 0.02. kNodeRegression: two targets, the sine and cosine of
  /// 2 pi c / C, with normal noise of deviation 0.1.
  std::string task = kNodeClassification;
  PlantedOptions planted;
};
/// Stochastic block model in its sparse limit (Holland, Laskey, Leinhardt: "Stochastic blockmodels", 1983):
/// Poisson degrees, classes and communities of equal size, nodes in random order.
Dataset generate_sbm(const SbmOptions& options);

struct RmatOptions {
  std::int32_t scale = 12;  ///< 2^scale nodes
  double edge_factor = 16;  ///< edges drawn for each node; loops and duplicates are dropped
  std::int32_t classes = 5;
  PlantedOptions planted;
};
/// R-MAT with the parameters of Graph500 (0.57, 0.19, 0.19, 0.05), nodes permuted at random, undirected. The
/// labels are random. (Chakrabarti, Zhan, Faloutsos: "R-MAT: a recursive model for graph mining", 2004.)
Dataset generate_rmat(const RmatOptions& options);

}  // namespace halo::datasets
