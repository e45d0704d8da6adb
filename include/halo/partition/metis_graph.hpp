#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halo/base/ids.hpp"
#include "halo/partition/partition_options.hpp"

namespace halo::partition {

/// A graph in METIS' own form (32-bit ids): symmetric, without loops and duplicates.
struct MetisGraph {
  std::vector<std::int32_t> offsets{0};
  std::vector<std::int32_t> neighbours{};
  std::vector<std::int32_t> edge_weights{};  ///< one for each neighbour; empty: 1
  std::vector<std::int32_t> node_weights{};  ///< [nodes x constraints]; empty: 1
  std::int32_t constraints = 1;              ///< figures to keep equal over the parts

  std::int32_t num_nodes() const { return static_cast<std::int32_t>(offsets.size()) - 1; }
};

struct MetisSettings {
  PartId parts = 2;  ///< in [2, nodes]
  Scheme scheme = Scheme::kKway;
  Objective objective = Objective::kCut;
  double imbalance = 1.03;
  std::uint64_t seed = 0;
};

/// Part of each node. Some parts may be empty (METIS calls that a success on small graphs): the caller
/// repairs. InputError where a sum of weights does not fit 32 bits, since METIS 5.1.0 then puts everything
/// into one part without a word. Error on what METIS itself reports. Deterministic in the seed; not
/// thread-safe (METIS draws from rand()).
std::vector<PartId> run_metis(MetisGraph& graph, const MetisSettings& settings);

/// "5.1.0".
std::string metis_version();

}  // namespace halo::partition
