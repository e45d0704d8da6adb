#include <fmt/format.h>

#include <algorithm>

#include "halo/base/error.hpp"
#include "load_parts.hpp"

namespace halo::datasets {
namespace {

struct Pairs {
  std::string name;
  std::vector<NodeId> sources{}, targets{};
};

Pairs read_pairs(const NpyArray& array, NodeId num_nodes) {
  const auto& header = array.header();
  if (header.shape.size() != 2 || header.shape[0] != 2 || header.kind == 'f' || header.kind == 'b') {
    throw InputError({.what = "a list of held-out links has the wrong shape or type",
                      .where = array.name(),
                      .found = fmt::format("{} of {}", format_shape(header.shape), header.dtype()),
                      .expected = "[2, links] of integers",
                      .next = "transpose or convert the array"});
  }
  Pairs pairs{.name = array.name()};
  for (const auto& [row, ids] : {std::pair{0, &pairs.sources}, {1, &pairs.targets}}) {
    ids->resize(at(header.shape[1]));
    array.read_rows<std::int64_t>({row, row + 1}, *ids);
    const auto bad =
        std::find_if(ids->begin(), ids->end(), [&](NodeId id) { return id < 0 || id >= num_nodes; });
    if (bad == ids->end()) continue;
    throw InputError(
        {.what = "a held-out link names a node that does not exist",
         .where = fmt::format("{}, row {}, link {} (from 0)", array.name(), row, bad - ids->begin()),
         .found = fmt::format("node {}", *bad),
         .expected = fmt::format("0 to {}", num_nodes - 1),
         .next = "correct the array"});
  }
  return pairs;
}

/// Negatives (u, v') stand in the order of their edges (u, v), equally many for each.
void set_negatives(const Pairs& pairs, HeldOutLinks& links) {
  const auto positives = links.sources.size();
  const auto each = positives == 0 ? 0 : pairs.sources.size() / positives;
  bool fits = each * positives == pairs.sources.size();
  for (std::size_t i = 0; fits && i < pairs.sources.size(); ++i)
    fits = pairs.sources[i] == links.sources[i / each];
  if (!fits) {
    throw InputError({.what = "the negatives do not belong to the held-out edges",
                      .where = pairs.name,
                      .found = fmt::format("{} pairs for {} edges", pairs.sources.size(), positives),
                      .expected = "for each edge (u, v), in order, equally many pairs (u, v')",
                      .next = "make them with gnn_dataset split-edges"});
  }
  links.negatives = pairs.targets;
  links.negatives_each = static_cast<std::int64_t>(each);
}

HeldOutLinks read_held_out(const ArrayFolder& arrays, const std::string& split, NodeId num_nodes) {
  HeldOutLinks links;
  const auto edges = arrays.find(split + "_edges");
  if (!edges) return links;
  Pairs positives = read_pairs(*edges, num_nodes);
  links.sources = std::move(positives.sources);
  links.targets = std::move(positives.targets);
  set_negatives(read_pairs(arrays.get(split + "_negatives"), num_nodes), links);
  return links;
}

}  // namespace

void read_links(const ArrayFolder& arrays, Dataset& dataset) {
  if (dataset.task != kLinkPrediction) return;
  dataset.val_links = read_held_out(arrays, "val", dataset.num_nodes);
  dataset.test_links = read_held_out(arrays, "test", dataset.num_nodes);
  const HeldOutLinks& val = dataset.val_links;
  const HeldOutLinks& test = dataset.test_links;
  if (val.size() == 0 || test.size() == 0 || val.negatives_each == test.negatives_each) return;
  throw InputError({.what = "validation and test edges have different numbers of negatives",
                    .where = arrays.path().string(),
                    .found = fmt::format("{} and {} for each edge", val.negatives_each, test.negatives_each),
                    .expected = "equally many",
                    .next = "make them with gnn_dataset split-edges"});
}

}  // namespace halo::datasets
