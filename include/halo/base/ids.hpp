#pragma once

#include <cstddef>
#include <cstdint>

namespace halo {

/// Global id of a node. After partitioning: the relabelled id, part k owns a contiguous range.
using NodeId = std::int64_t;
/// Id of a node on one rank: owned nodes first, then halo nodes by owner rank and node id.
using LocalId = std::int32_t;
/// Number or position of edges.
using EdgeId = std::int64_t;
using PartId = std::int32_t;
using Rank = int;

/// An id or count as a subscript.
constexpr std::size_t at(std::int64_t index) {
  return static_cast<std::size_t>(index);
}

/// Half-open range of rows [begin, end).
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
  friend bool operator==(const RowRange&, const RowRange&) = default;
};

}  // namespace halo
