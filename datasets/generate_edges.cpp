// From unsorted pieces to one sorted edge list by counting: count the edges of each source, scatter the
// targets into rows, sort every row. The order within a row after the scatter depends on the threads; after
// the sort it does not.
#include <algorithm>
#include <atomic>
#include <numeric>

#include "generate_parts.hpp"
#include "halo/base/parallel.hpp"

namespace halo::datasets {
namespace {

constexpr std::int64_t kRowsPerPiece = 1 << 14;

/// Calls body(from, to) for every entry of the rows: once for each edge that is no loop, or once for each of
/// its ends.
template <typename Body>
void for_each_entry(const std::vector<SmallEdge>& edges, Direction direction, const Body& body) {
  for (const SmallEdge& edge : edges) {
    if (edge.source == edge.target) continue;
    body(edge.source, edge.target);
    if (direction == Direction::kBothWays) body(edge.target, edge.source);
  }
}

struct Rows {
  std::vector<EdgeId> starts;    ///< [N + 1]
  std::vector<SmallId> targets;  ///< row by row
};

Rows scatter(std::int64_t num_nodes, EdgeBlocks blocks, Direction direction, int threads) {
  const auto count = static_cast<std::int64_t>(blocks.size());
  const auto for_blocks = [&](const auto& body) {
    parallel_for(count, threads, [&](std::int64_t block, int) {
      for_each_entry(blocks[static_cast<std::size_t>(block)], direction, body);
    });
  };
  // next[i] counts row i first and is its next free slot afterwards.
  std::vector<EdgeId> next(static_cast<std::size_t>(num_nodes), 0);
  const auto take = [&next](SmallId row) {
    return std::atomic_ref(next[static_cast<std::size_t>(row)]).fetch_add(1, std::memory_order_relaxed);
  };
  for_blocks([&](SmallId from, SmallId) { take(from); });
  Rows rows;
  rows.starts.assign(next.size() + 1, 0);
  std::inclusive_scan(next.begin(), next.end(), rows.starts.begin() + 1);
  std::copy(rows.starts.begin(), rows.starts.end() - 1, next.begin());
  rows.targets.resize(static_cast<std::size_t>(rows.starts.back()));
  for_blocks([&](SmallId from, SmallId to) { rows.targets[static_cast<std::size_t>(take(from))] = to; });
  return rows;
}

/// Calls body(row) for all rows, a range of them at a time.
template <typename Body>
void for_each_row(std::int64_t num_nodes, int threads, const Body& body) {
  parallel_for((num_nodes + kRowsPerPiece - 1) / kRowsPerPiece, threads, [&](std::int64_t piece, int) {
    const std::int64_t end = std::min((piece + 1) * kRowsPerPiece, num_nodes);
    for (std::int64_t row = piece * kRowsPerPiece; row < end; ++row) body(static_cast<std::size_t>(row));
  });
}

}  // namespace

void set_edges(Dataset& dataset, EdgeBlocks blocks, Direction direction, int threads) {
  Rows rows = scatter(dataset.num_nodes, std::move(blocks), direction, threads);
  std::vector<EdgeId> first(rows.starts.size(), 0);  // of each row in the result
  for_each_row(dataset.num_nodes, threads, [&](std::size_t row) {
    const auto begin = rows.targets.begin() + rows.starts[row];
    const auto end = rows.targets.begin() + rows.starts[row + 1];
    std::sort(begin, end);
    first[row + 1] = std::unique(begin, end) - begin;
  });
  std::inclusive_scan(first.begin(), first.end(), first.begin());
  dataset.sources.resize(static_cast<std::size_t>(first.back()));
  dataset.targets.resize(static_cast<std::size_t>(first.back()));
  for_each_row(dataset.num_nodes, threads, [&](std::size_t row) {
    const auto length = first[row + 1] - first[row];
    std::fill_n(dataset.sources.begin() + first[row], length, static_cast<NodeId>(row));
    std::copy_n(rows.targets.begin() + rows.starts[row], length, dataset.targets.begin() + first[row]);
  });
  dataset.declared_directed = direction == Direction::kOneWay;
}

}  // namespace halo::datasets
