#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halo/base/ids.hpp"
#include "halo/datasets/dataset.hpp"

namespace halo::partition {

/// Held-out edges as rows of val_links.npy and test_links.npy (datasets/partitioned_dataset.hpp).
struct LinkRows {
  std::vector<std::int64_t> values;   ///< [links, counts.cols()], row-major
  std::vector<std::int64_t> offsets;  ///< [parts + 1] rows of each part
};

/// `new_id` [nodes] by original id; `counts`: of the dataset.
LinkRows make_link_rows(const datasets::HeldOutLinks& links, std::span<const NodeId> new_id,
                        std::span<const NodeId> part_offsets, const datasets::LinkCounts& counts);

}  // namespace halo::partition
