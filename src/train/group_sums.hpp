#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "halo/base/exact_sum.hpp"
#include "halo/graph/local_graph.hpp"
#include "halo/mpi/communicator.hpp"

namespace halo::train {

/// Collective. `count` sums over the rows of all ranks: add_row(row, terms) adds an owned row to the terms of
/// its tile group in row order; the groups are added exactly, so that the sums are the same for any number of
/// ranks.
template <typename AddRow>
std::vector<double> sum_over_rows(const mpi::Communicator& communicator, const graph::LocalGraph& graph,
                                  std::int64_t count, const AddRow& add_row) {
  std::vector<std::int64_t> limbs(at(exact_limb_count(count)), 0);
  std::vector<double> terms(at(count));
  for (const graph::TileGroup& group : graph.groups) {
    std::fill(terms.begin(), terms.end(), 0.0);
    const std::int64_t end = graph.tiles[at(group.last_tile - 1)].rows.end;
    for (std::int64_t row = graph.tiles[at(group.first_tile)].rows.begin; row < end; ++row) {
      add_row(row, std::span<double>(terms));
    }
    exact_add<double>(terms, 0, count, limbs);
  }
  communicator.sum(std::span<std::int64_t>(limbs));
  exact_values<double>(limbs, 0, count, terms);
  return terms;
}

}  // namespace halo::train
