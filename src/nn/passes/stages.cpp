#include "stages.hpp"

#include <algorithm>
#include <optional>

#include "../traits.hpp"
#include "halo/nn/passes.hpp"

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
    std::vector<std::int32_t> waiting;
    for (const std::int32_t position : positions) {
      const Operation& operation = program_.operations[at(position)];
      waiting.push_back(position);
      if (operation.with_next) continue;
      begin_stage_for(operation);
      auto& operations = stages_.back().operations;
      operations.insert(operations.end(), waiting.begin(), waiting.end());
      waiting.clear();
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

}  // namespace

Positions split_positions(const Program& program) {
  const auto constant = constant_values(program);
  Positions positions;
  for (std::size_t k = 0; k < program.operations.size(); ++k) {
    const ValueId output = program.operations[k].output;
    const bool once = output != kNone && constant[at(output)];
    (once ? positions.once : positions.each_epoch).push_back(static_cast<std::int32_t>(k));
  }
  return positions;
}

std::vector<Stage> cut_into_stages(const Program& program, const std::vector<std::int32_t>& positions,
                                   bool symmetric) {
  return StageCutter(program, symmetric).cut(positions);
}

StageMap map_stages(const Program& program, bool symmetric) {
  StageMap map{.of = std::vector<std::int32_t>(program.operations.size(), kNone),
               .begins = std::vector<bool>(program.operations.size(), false)};
  const auto stages = cut_into_stages(program, split_positions(program).each_epoch, symmetric);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const auto first = std::ranges::find_if(
        stages[s].operations, [&](std::int32_t k) { return !program.operations[at(k)].with_next; });
    map.begins[at(*first)] = true;
    for (const std::int32_t k : stages[s].operations) map.of[at(k)] = static_cast<std::int32_t>(s);
  }
  return map;
}

}  // namespace halo::nn
