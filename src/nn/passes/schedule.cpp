// From a list of operations to what runs: constants apart, stages between gathers, a place for every value.

#include "halo/nn/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../traits.hpp"
#include "buffers.hpp"
#include "half_rows.hpp"
#include "halo/nn/passes.hpp"
#include "recompute.hpp"
#include "row_levels.hpp"
#include "stages.hpp"
#include "uses.hpp"

namespace halo::nn {
namespace {

std::vector<std::int64_t> count_halo_rows(const Program& program, const RowCounts& rows) {
  std::vector<std::int64_t> halo(program.values.size(), 0);
  for (const Operation& operation : program.operations) {
    const std::optional<Gather> gather = gather_of(operation.kind);
    if (!gather) continue;
    std::int64_t& needed = halo[at(operation.inputs[gather->input])];
    const bool in = rows.symmetric || gather->direction == Direction::kIn;
    needed = std::max(needed, in ? rows.halo_in : rows.halo_out);
  }
  return halo;
}

/// A gather fetches the rows that the gathered value was computed in.
void set_gather_levels(Schedule& schedule) {
  const auto producers = find_producers(schedule.program);
  for (Stage& stage : schedule.stages) {
    if (stage.gathered != kNone) stage.level = schedule.rows[at(producers[at(stage.gathered)])].compute;
  }
}

}  // namespace

std::string constant_key(const Program& program, ValueId value) {
  const auto producer = find_producers(program)[at(value)];
  const Operation& operation = program.operations[at(producer)];
  std::string key = describe(operation.kind);
  for (const ValueId input : operation.inputs) key += fmt::format("({})", constant_key(program, input));
  return key;
}

Schedule make_schedule(Program program, const RowCounts& rows, std::string constants_of) {
  program = recompute_cheap_values(program, rows.symmetric);
  if (program.half_rows) program = store_half_rows(program, rows.symmetric);
  const auto [constant_positions, positions] = split_positions(program);
  Schedule schedule;
  schedule.halo_rows = count_halo_rows(program, rows);
  schedule.constant_stages = cut_into_stages(program, constant_positions, rows.symmetric);
  schedule.stages = cut_into_stages(program, positions, rows.symmetric);
  schedule.placements.resize(program.values.size());
  for (const std::int32_t position : constant_positions) {
    const ValueId value = program.operations[at(position)].output;
    schedule.placements[at(value)].constant = constants_of + constant_key(program, value);
  }
  schedule.constants_of = std::move(constants_of);
  schedule.program = std::move(program);
  find_row_levels(schedule);
  for (const std::int32_t position : constant_positions) schedule.rows[at(position)] = {};  // of all programs
  set_gather_levels(schedule);
  place_in_buffers(schedule, rows);
  return schedule;
}

std::vector<GatherShape> find_gathers(std::initializer_list<const Schedule*> schedules) {
  std::vector<GatherShape> shapes;
  const auto add = [&](const Schedule& schedule, const Stage& stage) {
    if (stage.gathered == kNone) return;
    const std::int64_t cols = schedule.program.cols(stage.gathered);
    const auto same = std::find_if(shapes.begin(), shapes.end(), [&](const GatherShape& shape) {
      return shape.direction == stage.direction && shape.level == stage.level;
    });
    if (same == shapes.end()) {
      shapes.push_back({stage.direction, stage.level, cols});
    } else {
      same->cols = std::max(same->cols, cols);
    }
  };
  for (const Schedule* schedule : schedules) {
    for (const Stage& stage : schedule->constant_stages) add(*schedule, stage);
    for (const Stage& stage : schedule->stages) add(*schedule, stage);
  }
  return shapes;
}

RowCounts count_rows(const graph::LocalGraph& graph) {
  std::int64_t largest = 0;
  for (const graph::Tile& tile : graph.tiles) largest = std::max(largest, tile.rows.size());
  return {.owned = graph.owned,
          .halo_in = graph.in.halo,
          .halo_out = graph.out().halo,
          .symmetric = graph.symmetric,
          .tile = largest};
}

RowCounts count_rows(const graph::ShareCounts& counts) {
  return {.owned = counts.owned,
          .halo_in = counts.in.halo_rows(),
          .halo_out = counts.out.halo_rows(),
          .symmetric = counts.symmetric,
          .tile = counts.largest_tile()};
}

Schedules make_schedules(const Program& model, Graphs graphs) {
  return make_schedules(model, count_rows(graphs.evaluation), &graphs.train != &graphs.evaluation);
}

Schedules make_schedules(const Program& model, const RowCounts& rows, bool two_graphs) {
  return {.train = make_schedule(train_program(model), rows, two_graphs ? "train: " : ""),
          .evaluation = make_schedule(evaluation_program(model), rows)};
}

std::string to_text(const Schedule& schedule) {
  std::string text;
  const auto print = [&](const std::vector<Stage>& stages, const char* name) {
    for (const Stage& stage : stages) {
      text += name;
      if (!stage.reductions.empty()) text += ": reduction";
      if (stage.gathered != kNone) text += fmt::format(": gather v{}", stage.gathered);
      text += "\n";
      for (const std::int32_t position : stage.operations) {
        const Operation& operation = schedule.program.operations[at(position)];
        text += "  ";
        if (operation.output != kNone) {
          const Placement& place = schedule.placements[at(operation.output)];
          text += fmt::format("v{}[{}]", operation.output, schedule.program.cols(operation.output));
          if (place.memory != Memory::kConstant) {
            text += fmt::format(" at {}{}", place.memory == Memory::kScratch ? "scratch " : "", place.offset);
          }
          text += " = ";
        }
        text += describe(operation.kind);
        for (const ValueId input : operation.inputs) text += fmt::format(" v{}", input);
        const int level = schedule.rows[at(position)].compute;
        if (level < graph::kLastLevel) text += fmt::format(", rows to level {}", level);
        text += "\n";
      }
    }
  };
  print(schedule.constant_stages, "once");
  print(schedule.stages, "stage");
  return text;
}

}  // namespace halo::nn
