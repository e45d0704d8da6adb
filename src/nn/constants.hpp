#pragma once

#include <algorithm>
#include <string>
#include <variant>

#include "halo/nn/schedule.hpp"

namespace halo::nn {

// Which constants of a schedule have memory of their own, and which of them stay.

/// Lives in the caller's feature matrix.
inline bool is_features(const Schedule& schedule, ValueId value, const Operation& operation) {
  return std::holds_alternative<op::Input>(operation.kind) && schedule.halo_rows[at(value)] == 0;
}

/// True if an operation of the epoch reads the constant of this key.
inline bool is_read(const Schedule& schedule, const std::string& key) {
  const auto reads = [&](std::int32_t position) {
    const auto& inputs = schedule.program.operations[at(position)].inputs;
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](ValueId input) { return schedule.placements[at(input)].constant == key; });
  };
  return std::any_of(schedule.stages.begin(), schedule.stages.end(), [&](const Stage& stage) {
    return std::any_of(stage.operations.begin(), stage.operations.end(), reads);
  });
}

/// True if the constant is still there when the schedule's own have been made: only what the epoch reads
/// stays; the features themselves stay with the caller.
inline bool stays(const Schedule& schedule, const std::string& key) {
  return key != schedule.constants_of + describe(op::Input{}) && is_read(schedule, key);
}

}  // namespace halo::nn
