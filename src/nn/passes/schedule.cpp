// From a list of operations to what runs: constants apart, stages between gathers, a place for every value.

#include "halo/nn/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "buffers.hpp"
#include "halo/nn/passes.hpp"
#include "uses.hpp"

namespace halo::nn {
namespace {

constexpr std::int32_t kBothDirections = -2;

/// Which gather a sum needs: on a symmetric graph both directions have the same halo.
std::int32_t halo_of(Direction direction, bool symmetric) {
  return symmetric ? kBothDirections : static_cast<std::int32_t>(direction);
}

/// Cuts the operations at `positions` into stages: a sum over halo rows that are not there yet starts a new
/// one.
std::vector<Stage> cut_stages(const Program& program, const std::vector<std::int32_t>& positions,
                              bool symmetric) {
  std::vector<Stage> stages;
  std::vector<std::int32_t> gathered(program.values.size(), kNone);  // which halo a value holds
  for (const std::int32_t position : positions) {
    const Operation& operation = program.operations[at(position)];
    if (const auto* sum = std::get_if<op::NeighbourSum>(&operation.kind)) {
      const ValueId x = operation.inputs[0];
      const std::int32_t halo = halo_of(sum->direction, symmetric);
      if (gathered[at(x)] != halo) {
        gathered[at(x)] = halo;
        stages.push_back({.gathered = x, .direction = sum->direction, .operations = {}});
      }
    }
    if (stages.empty()) stages.emplace_back();
    stages.back().operations.push_back(position);
  }
  return stages;
}

std::vector<std::int64_t> count_halo_rows(const Program& program, const RowCounts& rows) {
  std::vector<std::int64_t> halo(program.values.size(), 0);
  for (const Operation& operation : program.operations) {
    const auto* sum = std::get_if<op::NeighbourSum>(&operation.kind);
    if (sum == nullptr) continue;
    std::int64_t& needed = halo[at(operation.inputs[0])];
    const bool in = rows.symmetric || sum->direction == Direction::kIn;
    needed = std::max(needed, in ? rows.halo_in : rows.halo_out);
  }
  return halo;
}

}  // namespace

std::string constant_key(const Program& program, ValueId value) {
  const auto producer = find_producers(program)[at(value)];
  const Operation& operation = program.operations[at(producer)];
  std::string key = describe(operation.kind);
  for (const ValueId input : operation.inputs) key += fmt::format("({})", constant_key(program, input));
  return key;
}

std::int64_t Schedule::arena_elements() const {
  return std::accumulate(slot_elements.begin(), slot_elements.end(), std::int64_t{0});
}

Schedule make_schedule(Program program, const RowCounts& rows) {
  const auto constant = constant_values(program);
  std::vector<std::int32_t> constant_positions;
  std::vector<std::int32_t> positions;
  for (std::size_t k = 0; k < program.operations.size(); ++k) {
    const ValueId output = program.operations[k].output;
    const bool once = output != kNone && constant[at(output)];
    (once ? constant_positions : positions).push_back(static_cast<std::int32_t>(k));
  }
  Schedule schedule;
  schedule.halo_rows = count_halo_rows(program, rows);
  schedule.constant_stages = cut_stages(program, constant_positions, rows.symmetric);
  schedule.stages = cut_stages(program, positions, rows.symmetric);
  schedule.placements.resize(program.values.size());
  for (const std::int32_t position : constant_positions) {
    const ValueId value = program.operations[at(position)].output;
    schedule.placements[at(value)].constant = constant_key(program, value);
  }
  schedule.program = std::move(program);
  place_in_slots(schedule, rows.owned);
  return schedule;
}

std::int64_t widest_gather(const Schedule& schedule) {
  std::int64_t cols = 0;
  for (const auto* stages : {&schedule.constant_stages, &schedule.stages}) {
    for (const Stage& stage : *stages) {
      if (stage.gathered != kNone) cols = std::max(cols, schedule.program.cols(stage.gathered));
    }
  }
  return cols;
}

Schedules make_schedules(const Program& model, const graph::LocalGraph& graph) {
  const RowCounts rows = {.owned = graph.owned,
                          .halo_in = graph.in.halo,
                          .halo_out = graph.out().halo,
                          .symmetric = graph.symmetric};
  return {.train = make_schedule(train_program(model), rows),
          .evaluation = make_schedule(evaluation_program(model), rows)};
}

std::string to_text(const Schedule& schedule) {
  std::string text;
  const auto print = [&](const std::vector<Stage>& stages, const char* name) {
    for (const Stage& stage : stages) {
      text += name;
      if (stage.gathered != kNone) text += fmt::format(": gather v{}", stage.gathered);
      text += "\n";
      for (const std::int32_t position : stage.operations) {
        const Operation& operation = schedule.program.operations[at(position)];
        text += "  ";
        if (operation.output != kNone) {
          const Placement& place = schedule.placements[at(operation.output)];
          text += fmt::format("v{}[{}]", operation.output, schedule.program.cols(operation.output));
          if (place.slot != kNone) text += fmt::format(" in slot {}", place.slot);
          text += " = ";
        }
        text += describe(operation.kind);
        for (const ValueId input : operation.inputs) text += fmt::format(" v{}", input);
        text += "\n";
      }
    }
  };
  print(schedule.constant_stages, "once");
  print(schedule.stages, "stage");
  return text;
}

}  // namespace halo::nn
