// From a list of operations to what runs: constants apart, stages between gathers, a place for every value.

#include "halo/nn/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../traits.hpp"
#include "buffers.hpp"
#include "halo/nn/passes.hpp"
#include "row_levels.hpp"
#include "uses.hpp"

namespace halo::nn {
namespace {

constexpr std::int32_t kBothDirections = -2;

/// Which gather a sum needs: on a symmetric graph both directions have the same halo.
std::int32_t halo_of(Direction direction, bool symmetric) {
  return symmetric ? kBothDirections : static_cast<std::int32_t>(direction);
}

/// A group's sum for an id enters once, however many operations of the stage add to it.
void add_once(std::int32_t id, std::vector<std::int32_t>& ids) {
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
}

/// Cuts the operations at given positions into stages: one starts where halo rows or a reduction are read
/// that are not there yet, and around an operation that takes all rows at once.
class StageCutter {
 public:
  StageCutter(const Program& program, bool symmetric)
      : program_(program),
        symmetric_(symmetric),
        gathered_(program.values.size(), kNone),
        pending_(program.reductions.size(), false) {}

  std::vector<Stage> cut(const std::vector<std::int32_t>& positions) {
    for (const std::int32_t position : positions) {
      const Operation& operation = program_.operations[at(position)];
      begin_stage_for(operation);
      stages_.back().operations.push_back(position);
      for (const ParameterId id : gradients_of(operation.kind)) add_once(id, stages_.back().gradients);
      for (const ReductionId id : reductions_written(operation.kind)) {
        add_once(id, stages_.back().written);
        pending_[at(id)] = true;
      }
    }
    return std::move(stages_);
  }

 private:
  void begin_stage_for(const Operation& operation) {
    const std::vector<ReductionId> read = reductions_read(operation.kind);
    const bool waits =
        std::any_of(read.begin(), read.end(), [&](ReductionId id) { return pending_[at(id)]; });
    const bool whole = is_whole(operation.kind);
    const std::optional<Gather> gather = missing_gather(operation);
    if (stages_.empty() || stages_.back().whole || waits || whole || gather) {
      stages_.emplace_back();
      stages_.back().whole = whole;
    }
    if (gather) {
      stages_.back().gathered = operation.inputs[gather->input];
      stages_.back().direction = gather->direction;
    }
    if (!waits) return;
    for (std::size_t id = 0; id < pending_.size(); ++id) {
      if (pending_[id]) stages_.back().reductions.push_back(static_cast<ReductionId>(id));
      pending_[id] = false;
    }
  }

  /// The operation's gather if the halo rows are not there yet; notes that they will be.
  std::optional<Gather> missing_gather(const Operation& operation) {
    const std::optional<Gather> gather = gather_of(operation.kind);
    if (!gather) return std::nullopt;
    std::int32_t& held = gathered_[at(operation.inputs[gather->input])];
    const std::int32_t halo = halo_of(gather->direction, symmetric_);
    if (held == halo) return std::nullopt;
    held = halo;
    return gather;
  }

  const Program& program_;
  bool symmetric_;
  std::vector<std::int32_t> gathered_;  ///< which halo a value holds
  std::vector<bool> pending_;           ///< reductions with terms that were not summed over ranks yet
  std::vector<Stage> stages_;
};

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
  schedule.constant_stages = StageCutter(program, rows.symmetric).cut(constant_positions);
  schedule.stages = StageCutter(program, rows.symmetric).cut(positions);
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
