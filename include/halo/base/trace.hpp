#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halo {

/// Now, in nanoseconds of this process's steady clock.
std::int64_t steady_nanoseconds();

/// What an event is of; in brackets what its `value` counts.
enum class TraceKind : std::uint8_t {
  kEpoch,       ///< one epoch (its number)
  kEvaluation,  ///< an evaluation of all splits (epoch)
  kOptimiser,   ///< clipping and the optimiser's step (epoch)
  kReport,      ///< figures of the epoch over all ranks, metrics.jsonl (epoch)
  kCheckpoint,  ///< (epoch)
  kStage,       ///< a stage of a schedule (its number in the schedule)
  kInterior,    ///< one thread's work on the groups that need no halo row (nanoseconds in groups)
  kBoundary,    ///< the same of those that do
  kGroups,      ///< the same of all groups, in a stage without a gather
  kGather,      ///< halo rows in flight, from post to arrival (bytes sent)
  kPack,        ///< rows copied for their receivers (bytes)
  kWait,        ///< waiting for halo rows (bytes of the gather)
  kAllreduce,   ///< a sum over all ranks (bytes)
  kSums,        ///< the exact sums of an epoch: merged, over all ranks, read (0)
};
inline constexpr int kTraceKinds = 14;
/// "epoch", "evaluation", ...
const char* to_string(TraceKind kind);

struct TraceEvent {
  std::int64_t begin = 0;  ///< steady_nanoseconds()
  std::int64_t end = 0;
  std::int64_t value = 0;   ///< see TraceKind
  std::int32_t label = -1;  ///< in TraceRecorder::labels(); -1: none
  std::int32_t thread = 0;
  TraceKind kind = TraceKind::kEpoch;
};

/// The events of one process, in memory that is taken when it is made. When that is full, further events are
/// counted and dropped, so what is held is the whole beginning. One thread records; it does so for the others
/// too.
class TraceRecorder {
 public:
  TraceRecorder(std::int64_t capacity, int threads);

  /// The same number for the same text; allocates when a text is new.
  std::int32_t label(const std::string& text);
  void add(const TraceEvent& event) {
    if (count_ < events_.size()) {
      events_[count_++] = event;
    } else {
      ++dropped_;
    }
  }

  /// By their ends, oldest first.
  std::span<const TraceEvent> events() const { return std::span(events_).first(count_); }
  std::int64_t dropped() const { return dropped_; }
  const std::vector<std::string>& labels() const { return labels_; }
  int threads() const { return threads_; }

 private:
  std::vector<TraceEvent> events_;
  std::size_t count_ = 0;
  std::int64_t dropped_ = 0;
  std::vector<std::string> labels_;
  int threads_;
};

/// Records the time of its life as an event of thread 0; nothing (not even the clock is read) without a
/// recorder.
class TraceSpan {
 public:
  TraceSpan(TraceRecorder* recorder, TraceKind kind, std::int64_t value = 0, std::int32_t label = -1)
      : recorder_(recorder) {
    if (recorder_ != nullptr) {
      event_ = {.begin = steady_nanoseconds(), .value = value, .label = label, .kind = kind};
    }
  }
  ~TraceSpan() {
    if (recorder_ == nullptr) return;
    event_.end = steady_nanoseconds();
    recorder_->add(event_);
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  TraceRecorder* recorder_;
  TraceEvent event_;
};

}  // namespace halo
