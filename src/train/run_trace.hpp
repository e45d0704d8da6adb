#pragma once

#include <cstdint>
#include <filesystem>

#include "clock_offset.hpp"
#include "halo/base/trace.hpp"
#include "halo/mpi/communicator.hpp"

namespace halo::train {

/// Events that a rank has room for: 5 MiB, a thousand epochs of a small model. Those that do not fit are left
/// out.
inline constexpr std::int64_t kTraceEvents = std::int64_t{1} << 17;

/// The trace of one rank of a job and its place in time among the ranks.
class RunTrace {
 public:
  /// Collective.
  RunTrace(const mpi::Communicator& communicator, int threads, std::int64_t events = kTraceEvents);

  TraceRecorder& recorder() { return recorder_; }
  const TraceRecorder& recorder() const { return recorder_; }
  const ClockOffset& clock() const { return clock_; }
  /// Nanoseconds since the trace began; the same time on all ranks, but for clock().error.
  std::int64_t common_time(std::int64_t steady) const { return steady + clock_.offset - origin_; }

 private:
  TraceRecorder recorder_;
  ClockOffset clock_;
  std::int64_t origin_ = 0;  ///< by rank 0's clock
};

/// InputError if a trace cannot be written to `path` beside the run folder `out` (may be empty); leaves
/// nothing there.
void check_trace_path(const std::filesystem::path& path, const std::filesystem::path& out);

/// Collective. Writes what all ranks hold as one file of trace events in JSON (the format of Chrome's tracing,
/// which ui.perfetto.dev loads): process = rank, thread = thread, a further track for halo rows in flight;
/// microseconds. Format: Duan, Sinclair: Trace Event Format, 2016.
void write_trace(const mpi::Communicator& communicator, const std::filesystem::path& path,
                 const RunTrace& trace);

}  // namespace halo::train
