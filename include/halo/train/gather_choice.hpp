#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "halo/graph/share_counts.hpp"
#include "halo/nn/schedule.hpp"

namespace halo::train {

/// Rows that all ranks send in one gather, by level, of in-edges and of out-edges.
using SentRows = std::array<graph::ByLevel, 2>;

/// Which halo gathers a run sets up: one for each direction and highest level of rows that is worth it.
class GatherChoice {
 public:
  using Key = std::pair<nn::Direction, std::int8_t>;

  /// `shapes`: every gather there will be. Of symmetric edges one direction serves both. Rows of some levels
  /// do not land in place, which costs a buffer and a copy: all rows travel unless a quarter stays at home.
  GatherChoice(std::span<const nn::GatherShape> shapes, bool symmetric, bool has_levels,
               const SentRows& sent);

  /// The gather that fetches rows of at most `level`.
  Key key_of(nn::Direction direction, std::int8_t level) const {
    return chosen_.at(wanted(direction, level));
  }
  /// Most columns of each gather.
  const std::map<Key, std::int64_t>& cols() const { return cols_; }

 private:
  Key wanted(nn::Direction direction, std::int8_t level) const;

  bool symmetric_;
  bool has_levels_;
  std::map<Key, Key> chosen_;
  std::map<Key, std::int64_t> cols_;
};

/// True if a gather of this level fetches all rows.
constexpr bool fetches_all(std::int8_t level) {
  return level == static_cast<std::int8_t>(graph::kLastLevel);
}

}  // namespace halo::train
