#pragma once

#include <cstdint>
#include <vector>

#include "halo/nn/schedule.hpp"

namespace halo::nn {

/// Positions of operations: those whose results are constants, and all others.
struct Positions {
  std::vector<std::int32_t> once;
  std::vector<std::int32_t> each_epoch;
};
Positions split_positions(const Program& program);

/// Cuts the operations at `positions` where one needs halo rows or a reduction that is not there yet.
std::vector<Stage> cut_into_stages(const Program& program, const std::vector<std::int32_t>& positions,
                                   bool symmetric);

/// Where the operations of each epoch run.
struct StageMap {
  std::vector<std::int32_t> of;  ///< per operation, its stage; kNone for those of constants
  std::vector<bool> begins;      ///< per operation: the one that its stage begins for
};
StageMap map_stages(const Program& program, bool symmetric);

}  // namespace halo::nn
