#include "link_rows.hpp"

#include <algorithm>
#include <numeric>

namespace halo::partition {

LinkRows make_link_rows(const datasets::HeldOutLinks& links, std::span<const NodeId> new_id,
                        std::span<const NodeId> part_offsets, const datasets::LinkCounts& counts) {
  const auto part_of = [&](std::int64_t link) {
    const NodeId source = new_id[at(links.sources[at(link)])];
    return std::upper_bound(part_offsets.begin(), part_offsets.end(), source) - part_offsets.begin() - 1;
  };
  std::vector<std::int64_t> order(links.sources.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order, {}, part_of);

  LinkRows rows;
  rows.offsets.assign(part_offsets.size(), 0);
  rows.values.reserve(order.size() * at(counts.cols()));
  for (const std::int64_t link : order) {
    ++rows.offsets[at(part_of(link)) + 1];
    rows.values.insert(rows.values.end(),
                       {link, new_id[at(links.sources[at(link)])], new_id[at(links.targets[at(link)])]});
    for (std::int64_t k = 0; k < counts.negatives; ++k)
      rows.values.push_back(new_id[at(links.negatives[at(link * counts.negatives + k)])]);
  }
  std::partial_sum(rows.offsets.begin(), rows.offsets.end(), rows.offsets.begin());
  return rows;
}

}  // namespace halo::partition
