#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halo/base/ids.hpp"

namespace halo::partition {

/// How nodes get their part.
enum class Method {
  kMetis,   ///< few cut edges: METIS (Karypis and Kumar, "A fast and high quality multilevel scheme ...",
            ///< 1998)
  kRandom,  ///< a random permutation cut into K equal runs: the worst case, to compare with
  kBlock,   ///< the given numbering cut into K equal runs: for data that comes in a good order
};
/// METIS' two ways: all parts at once, or halves of halves.
enum class Scheme { kKway, kRecursive };
/// What METIS makes small: cut edges, or rows that cross parts (k-way only).
enum class Objective { kCut, kVolume };
/// What METIS keeps equal over the parts.
enum class Balance {
  kNodes,
  kEdges,  ///< entries of the parts' in-edge rows
  kTrain,  ///< training nodes
};

struct PartitionOptions {
  PartId parts = 1;
  Method method = Method::kMetis;
  Scheme scheme = Scheme::kKway;
  Objective objective = Objective::kCut;
  std::vector<Balance> balance{Balance::kNodes};
  double imbalance = 1.03;  ///< largest part / mean part that METIS aims at, in each balanced figure
  std::uint64_t seed = 0;
  std::int64_t tile_rows = 256;
  std::int64_t tiles_per_group = 16;
  int threads = 1;  ///< the result does not depend on it
};

/// InputError names the option that does not fit: parts outside [1, nodes], volume without k-way, and so on.
void check_options(const PartitionOptions& options, NodeId nodes);

/// Command-line names: "metis", "kway", "cut", "nodes" ... InputError on an unknown one.
Method parse_method(const std::string& name);
Scheme parse_scheme(const std::string& name);
Objective parse_objective(const std::string& name);
Balance parse_balance(const std::string& name);
const char* to_string(Method method);
const char* to_string(Scheme scheme);
const char* to_string(Objective objective);
const char* to_string(Balance balance);

}  // namespace halo::partition
