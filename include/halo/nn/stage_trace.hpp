#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halo/base/trace.hpp"
#include "halo/nn/schedule.hpp"

namespace halo::nn {

/// "backward 4: gather v7[64]; sum, linear_gradient": what a stage of an epoch does, its number in the
/// schedule first. Stages of an evaluation are "evaluation" whatever they do.
std::string stage_name(const Schedule& schedule, std::size_t stage, bool evaluation);

/// Records the stages of one schedule and, for each thread, the time in groups of tiles. Threads note their
/// own groups; the recording is done by thread 0 alone.
class StageTrace {
 public:
  StageTrace(TraceRecorder& recorder, const Schedule& schedule, bool evaluation);

  TraceRecorder& recorder() { return recorder_; }
  /// Lasts as long as the stage at this position runs.
  TraceSpan stage(std::size_t position) {
    running_ = labels_[position];
    return {&recorder_, TraceKind::kStage, static_cast<std::int64_t>(position), running_};
  }

  /// On `thread`, which has worked on a group of the running stage since `begin` (steady_nanoseconds()).
  void note_group(int thread, std::int64_t begin) {
    Work& work = work_[static_cast<std::size_t>(thread)];
    work.end = steady_nanoseconds();
    if (work.busy == 0) work.begin = begin;
    work.busy += work.end - begin;
  }
  /// All threads are done with the groups of this kind.
  void record_groups(TraceKind kind);

 private:
  struct alignas(64) Work {  // no two threads write one cache line
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t busy = 0;
  };

  TraceRecorder& recorder_;
  std::vector<std::int32_t> labels_;  ///< per stage
  std::vector<Work> work_;            ///< per thread
  std::int32_t running_ = -1;
};

}  // namespace halo::nn
