#include "halo/nn/stage_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "traits.hpp"

namespace halo::nn {
namespace {

bool is_loss(const Operation& operation) {
  return std::holds_alternative<op::Loss>(operation.kind) ||
         std::holds_alternative<op::ExternalLoss>(operation.kind);
}

/// "forward", "loss", "backward", or those of them that the stage holds, joined by +.
std::string phase_of(const Schedule& schedule, const Stage& stage) {
  const auto& operations = schedule.program.operations;
  const auto loss = std::find_if(operations.begin(), operations.end(), is_loss) - operations.begin();
  std::string phase;
  const auto add = [&](bool holds, const char* name) {
    if (holds) phase += (phase.empty() ? "" : "+") + std::string(name);
  };
  const auto any = [&](auto&& where) {
    return std::any_of(stage.operations.begin(), stage.operations.end(), where);
  };
  add(any([&](std::int32_t position) { return position < loss; }), "forward");
  add(any([&](std::int32_t position) { return position == loss; }), "loss");
  add(any([&](std::int32_t position) { return position > loss; }), "backward");
  return phase;
}

/// Names of operations, each once, in order.
std::string operations_of(const Schedule& schedule, const Stage& stage) {
  std::vector<std::string> names;
  for (const std::int32_t position : stage.operations) {
    std::string name =
        std::visit([](const auto& kind) { return std::string(std::decay_t<decltype(kind)>::kName); },
                   schedule.program.operations[at(position)].kind);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string stage_name(const Schedule& schedule, std::size_t position, bool evaluation) {
  const Stage& stage = schedule.stages[position];
  std::string name = fmt::format("{} {}: ", evaluation ? "evaluation" : phase_of(schedule, stage), position);
  if (stage.gathered != kNone) {
    name += fmt::format("gather v{}[{}]; ", stage.gathered, schedule.program.cols(stage.gathered));
  }
  return name + operations_of(schedule, stage);
}

StageTrace::StageTrace(TraceRecorder& recorder, const Schedule& schedule, bool evaluation)
    : recorder_(recorder), work_(static_cast<std::size_t>(recorder.threads())) {
  for (std::size_t position = 0; position < schedule.stages.size(); ++position) {
    labels_.push_back(recorder.label(stage_name(schedule, position, evaluation)));
  }
}

void StageTrace::record_groups(TraceKind kind) {
  for (std::size_t thread = 0; thread < work_.size(); ++thread) {
    Work& work = work_[thread];
    if (work.busy > 0) {
      recorder_.add({.begin = work.begin,
                     .end = work.end,
                     .value = work.busy,
                     .label = running_,
                     .thread = static_cast<std::int32_t>(thread),
                     .kind = kind});
    }
    work = {};
  }
}

}  // namespace halo::nn
