#include "problem.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "halo/base/error.hpp"

namespace halo::train {
namespace {

void check_labels(const dist::LocalPartition& partition) {
  for (std::size_t i = 0; i < partition.labels.size(); ++i) {
    if (partition.split[i] == 0 || partition.labels[i] >= 0) continue;
    throw InputError({.what = "a node of a split has no label",
                      .where = "labels.npy of the partitioned dataset",
                      .found = fmt::format("label {} at original node {}", partition.labels[i],
                                           partition.graph.original_id[i]),
                      .expected = "a class for every training, validation and test node",
                      .next = "correct labels or splits and partition again"});
  }
}

}  // namespace

nn::Targets make_targets(const mpi::Communicator& communicator, const dist::LocalPartition& partition) {
  communicator.agree([&] { check_labels(partition); });
  nn::Targets targets;
  targets.labels = partition.labels;
  for (int split = 0; split < nn::kSplits; ++split) {
    auto& rows = targets.rows[static_cast<std::size_t>(split)];
    rows.resize(partition.split.size());
    std::transform(
        partition.split.begin(), partition.split.end(), rows.begin(),
        [split](std::uint8_t of_node) { return static_cast<std::uint8_t>(of_node == split + 1 ? 1 : 0); });
    targets.global_count[static_cast<std::size_t>(split)] = std::count(rows.begin(), rows.end(), 1);
  }
  communicator.sum(std::span<std::int64_t>(targets.global_count));
  communicator.agree([&] {
    if (targets.global_count[0] > 0) return;
    throw InputError({.what = "there is nothing to train on",
                      .where = "split.npy of the partitioned dataset",
                      .found = "no training node",
                      .expected = "at least one",
                      .next = "give the dataset a train_idx.npy and partition again"});
  });
  return targets;
}

}  // namespace halo::train
