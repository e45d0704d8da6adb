#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halo/mpi/communicator.hpp"

namespace halo::train {

// Figures of link prediction as the Open Graph Benchmark defines them (Hu et al. 2020), over the links of all
// ranks. What is added up are integers, so they have the same bits for any number of ranks.

/// Collective. Mean over the positives of 1 / rank, where the positive stands among its own negatives:
/// negatives[i n .. (i + 1) n) belong to positives[i], n = `negatives_each`. With ties the rank is the mean
/// of the best and the worst place. NaN without positives. Error, the same on every rank, where a score is
/// NaN.
double mean_reciprocal_rank(const mpi::Communicator& communicator, std::span<const float> positives,
                            std::span<const float> negatives, std::int64_t negatives_each);

/// Collective. For each K the share of the positives that score higher than the K-th best of all negatives
/// together (a tie is no hit); 1 where there are fewer than K negatives. NaN without positives.
/// Error, the same on every rank, where a score is NaN.
std::vector<double> hits_at(const mpi::Communicator& communicator, std::span<const float> positives,
                            std::span<const float> negatives, std::span<const std::int64_t> ks);

}  // namespace halo::train
