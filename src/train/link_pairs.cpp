#include "link_pairs.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "halo/base/counter_rng.hpp"
#include "halo/base/error.hpp"
#include "halo/base/parallel.hpp"
#include "halo/mpi/exchange.hpp"
#include "row_fetch.hpp"

namespace halo::train {
namespace {

// Streams of random numbers, above those of dropout and of the initial parameters.
constexpr std::uint64_t kTurns = 0x1000001;
constexpr std::uint64_t kNegatives = 0x1000002;

/// Whether a comes first in the pair of a < b.
bool lower_first(const CounterRng& turns, NodeId a, NodeId b) {
  return CounterRng::word(turns.row_key(a), static_cast<std::uint64_t>(b)) >> 63 == 0;
}

}  // namespace

struct PairSampler::End {
  LocalId row;      ///< owned
  NodeId original;  ///< of the other node
  NodeId node;      ///< of the other node
  bool positive;
  bool first;
};

PairSampler::PairSampler(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
                         std::int64_t negatives, int threads)
    : communicator_(communicator),
      partition_(partition),
      negatives_(negatives),
      threads_(threads),
      directory_(communicator, partition.graph.global_nodes, partition.graph.first_node,
                 partition.graph.original_id),
      in_halo_nodes_(directory_.look_up(partition.graph.in.halo_original_id)),
      out_halo_nodes_if_directed_(
          partition.graph.symmetric ? std::vector<NodeId>()
                                    : directory_.look_up(partition.graph.out_if_directed.halo_original_id)) {
  std::vector<End> ends;
  add_positives(0, 0, ends);
  global_pairs_ = std::ranges::count_if(ends, [](const End& end) { return end.first; }) * (1 + negatives);
  communicator.sum(std::span<std::int64_t>(&global_pairs_, 1));
  communicator.agree([&] {
    if (global_pairs_ > 0) return;
    throw InputError({.what = "there is nothing to train on",
                      .where = "indices.npy of the partitioned dataset",
                      .found = "no edge but loops",
                      .expected = "at least one edge that is not held out",
                      .next = "hold out fewer edges and partition again"});
  });
}

/// use(original id, node id) of the distinct neighbours of a row but the node itself.
template <typename Use>
void PairSampler::for_each_neighbour(const graph::Adjacency& rows, std::span<const NodeId> halo_nodes,
                                     LocalId row, const Use& use) const {
  const graph::LocalGraph& graph = partition_.graph;
  for (EdgeId e = rows.indptr[at(row)]; e < rows.indptr[at(row) + 1]; ++e) {
    const LocalId column = rows.columns[at(e)];
    const bool again = e > rows.indptr[at(row)] && column == rows.columns[at(e) - 1];
    if (again || column == row) continue;
    if (column < graph.owned) {
      use(graph.original_id[at(column)], graph.first_node + column);
    } else {
      use(rows.halo_original_id[at(column - graph.owned)], halo_nodes[at(column - graph.owned)]);
    }
  }
}

void PairSampler::add_positives(std::uint64_t seed, std::uint64_t epoch, std::vector<End>& ends) const {
  const graph::LocalGraph& graph = partition_.graph;
  const CounterRng turns(seed, epoch, kTurns);
  for (LocalId row = 0; row < graph.owned; ++row) {
    const NodeId own = graph.original_id[at(row)];
    for_each_neighbour(graph.in, in_halo_nodes_, row, [&](NodeId original, NodeId node) {
      const bool first = graph.symmetric && lower_first(turns, std::min(own, original),
                                                        std::max(own, original)) == (own < original);
      ends.push_back({row, original, node, true, first});
    });
    if (graph.symmetric) continue;
    for_each_neighbour(graph.out_if_directed, out_halo_nodes_if_directed_, row,
                       [&](NodeId original, NodeId node) {
                         ends.push_back({row, original, node, true, true});
                       });
  }
}

/// The owner of u draws v', asks who that is, and tells the owner of v'.
void PairSampler::add_negatives(std::uint64_t seed, std::uint64_t epoch, std::vector<End>& ends) const {
  const graph::LocalGraph& graph = partition_.graph;
  const CounterRng random(seed, epoch, kNegatives);
  const std::size_t positives = ends.size();
  std::vector<NodeId> drawn;
  for (std::size_t i = 0; i < positives; ++i) {
    if (!ends[i].first) continue;
    const NodeId own = graph.original_id[at(ends[i].row)];
    RandomStream stream(CounterRng::word(random.row_key(own), static_cast<std::uint64_t>(ends[i].original)));
    for (std::int64_t k = 0; k < negatives_; ++k) {
      const auto other =
          static_cast<NodeId>(stream.below(static_cast<std::uint64_t>(graph.global_nodes - 1)));
      drawn.push_back(other < own ? other : other + 1);
    }
  }
  const std::vector<NodeId> nodes = directory_.look_up(drawn);
  std::vector<std::vector<std::int64_t>> told(at(communicator_.size()));
  std::size_t next = 0;
  for (std::size_t i = 0; i < positives; ++i) {
    if (!ends[i].first) continue;
    const LocalId row = ends[i].row;
    for (std::int64_t k = 0; k < negatives_; ++k, ++next) {
      ends.push_back({row, drawn[next], nodes[next], false, true});
      auto& of_owner = told[at(partition_.ownership.owner_of(nodes[next]))];
      of_owner.insert(of_owner.end(), {nodes[next], graph.original_id[at(row)], graph.first_node + row});
    }
  }
  const mpi::Received received = mpi::send_to_ranks(communicator_, told);
  for (std::size_t k = 0; k < received.values.size(); k += 3) {
    ends.push_back({static_cast<LocalId>(received.values[k] - graph.first_node), received.values[k + 1],
                    received.values[k + 2], false, false});
  }
}

/// By row, in any order within one.
std::vector<PairSampler::End> PairSampler::by_row(const std::vector<End>& ends,
                                                  std::vector<std::int64_t>& offsets) const {
  offsets.assign(at(partition_.graph.owned) + 1, 0);
  for (const End& end : ends) ++offsets[at(end.row) + 1];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
  std::vector<End> sorted(ends.size());
  for (const End& end : ends) sorted[at(next[at(end.row)]++)] = end;
  return sorted;
}

EpochPairs PairSampler::arrange(const std::vector<End>& drawn) const {
  constexpr std::int64_t kRows = 256;  // that a thread takes at a time
  const graph::LocalGraph& graph = partition_.graph;
  const RowRange owned = {graph.first_node, graph.first_node + graph.owned};
  RemoteNodes remote(owned);
  for (const End& end : drawn) remote.add(end.node);
  remote.number("nodes in the pairs of one rank");
  EpochPairs pairs;
  std::vector<End> ends = by_row(drawn, pairs.offsets);
  pairs.ends.resize(ends.size());
  parallel_for((graph.owned + kRows - 1) / kRows, threads_, [&](std::int64_t block, int) {
    for (std::int64_t row = block * kRows; row < std::min<std::int64_t>((block + 1) * kRows, graph.owned);
         ++row) {
      const auto of_row = std::span(ends).subspan(at(pairs.offsets[at(row)]),
                                                  at(pairs.offsets[at(row) + 1] - pairs.offsets[at(row)]));
      // Ends that compare equal are the same pair drawn twice: which of them comes first changes nothing.
      std::ranges::sort(of_row, {},
                        [](const End& end) { return std::tuple(end.original, end.positive, end.first); });
    }
    const auto first = at(pairs.offsets[at(block * kRows)]);
    const auto last = at(pairs.offsets[at(std::min<std::int64_t>((block + 1) * kRows, graph.owned))]);
    for (std::size_t i = first; i < last; ++i)
      pairs.ends[i] = {remote.local(ends[i].node), ends[i].positive, ends[i].first};
  });
  pairs.remote = remote.ids();
  return pairs;
}

EpochPairs PairSampler::draw(std::uint64_t seed, std::uint64_t epoch) const {
  // About as many as there will be: of the two ends of a pair one comes first and brings the negatives, each
  // of which has two ends again.
  const graph::LocalGraph& graph = partition_.graph;
  const std::size_t positives = graph.in.columns.size() + graph.out_if_directed.columns.size();
  std::vector<End> ends;
  ends.reserve(positives * at(1 + negatives_));
  add_positives(seed, epoch, ends);
  add_negatives(seed, epoch, ends);
  return arrange(ends);
}

}  // namespace halo::train
