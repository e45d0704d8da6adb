#include "run_trace.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <vector>

#include "halo/base/error.hpp"
#include "halo/base/log.hpp"
#include "shared_file.hpp"

namespace halo::train {
namespace {

namespace fs = std::filesystem;

fs::path normal(const fs::path& path) {
  return fs::absolute(path).lexically_normal();
}

/// By trying: permissions are not all that matters.
bool can_create_file(const fs::path& folder) {
  std::string probe = folder / ".trace-XXXXXX";
  const int descriptor = mkstemp(probe.data());
  if (descriptor < 0) return false;
  close(descriptor);
  return unlink(probe.c_str()) == 0;
}

/// Why no file can be made at `path`; empty: it can.
std::string obstacle(const fs::path& path, const fs::path& out) {
  std::error_code ignored;
  if (!path.has_filename() || fs::is_directory(path, ignored)) return "a folder";
  if (!out.empty() && normal(path) == normal(out)) return "the run folder";
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return "something that is no file";
  fs::path above = normal(path).parent_path();
  while (!fs::exists(above, ignored) && above.has_relative_path()) above = above.parent_path();
  if (!fs::is_directory(above, ignored)) return above.string() + ", which is no folder";
  return can_create_file(above) ? "" : above.string() + ", where no file can be made";
}

/// The events of one rank as text.
class EventWriter {
 public:
  EventWriter(const RunTrace& trace, Rank rank) : trace_(trace), rank_(rank) {
    for (const std::string& label : trace.recorder().labels()) {
      labels_.push_back(nlohmann::json(label).dump());
    }
  }

  std::string write() {
    name_tracks();
    for (const TraceEvent& event : trace_.recorder().events()) write_event(event);
    return fmt::to_string(text_);
  }

 private:
  template <typename... Arguments>
  void put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  void name_track(const char* what, int thread, const std::string& name) {
    put(",\n{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"{}\"}}}}", what, rank_,
        thread, name);
  }

  void name_tracks() {
    const TraceRecorder& recorder = trace_.recorder();
    put("{{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{0},\"args\":{{\"sort_index\":{0}}}}}",
        rank_);
    name_track("process_name", 0, fmt::format("rank {}", rank_));
    for (int thread = 0; thread < recorder.threads(); ++thread) {
      name_track("thread_name", thread, fmt::format("thread {}", thread));
    }
    name_track("thread_name", recorder.threads(), "halo rows in flight");
    put(",\n{{\"ph\":\"M\",\"name\":\"halo_trace\",\"pid\":{},\"args\":{{\"dropped_events\":{},\"clock_error_"
        "us\":{:.3f}}}}}",
        rank_, recorder.dropped(), static_cast<double>(trace_.clock().error) / 1e3);
  }

  void write_event(const TraceEvent& event) {
    const bool in_flight = event.kind == TraceKind::kGather;
    const bool named = in_flight || event.kind == TraceKind::kStage;
    const std::int64_t begin = trace_.common_time(event.begin);
    put(",\n{{\"ph\":\"X\",\"name\":{},\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f},"
        "\"args\":{{",
        named ? label_of(event) : fmt::format("\"{}\"", to_string(event.kind)), to_string(event.kind), rank_,
        in_flight ? trace_.recorder().threads() : event.thread, static_cast<double>(begin) / 1e3,
        static_cast<double>(event.end - event.begin) / 1e3);
    write_arguments(event);
    put("}}}}");
  }

  void write_arguments(const TraceEvent& event) {
    switch (event.kind) {
      case TraceKind::kEpoch:
      case TraceKind::kEvaluation:
      case TraceKind::kOptimiser:
      case TraceKind::kReport:
      case TraceKind::kCheckpoint:
        put("\"epoch\":{}", event.value);
        return;
      case TraceKind::kStage:
        put("\"stage\":{}", event.value);
        return;
      case TraceKind::kInterior:
      case TraceKind::kBoundary:
      case TraceKind::kGroups:
        put("\"stage\":{},\"busy_seconds\":{:.9f}", label_of(event), static_cast<double>(event.value) / 1e9);
        return;
      case TraceKind::kGather:
      case TraceKind::kPack:
      case TraceKind::kWait:
        put("\"gather\":{},\"bytes_sent\":{}", label_of(event), event.value);
        return;
      case TraceKind::kAllreduce:
        put("\"bytes\":{}", event.value);
        return;
      case TraceKind::kSums:
        return;
    }
  }

  const std::string& label_of(const TraceEvent& event) const {
    return labels_[static_cast<std::size_t>(event.label)];
  }

  const RunTrace& trace_;
  Rank rank_;
  std::vector<std::string> labels_;  ///< as JSON
  fmt::memory_buffer text_;
};

}  // namespace

RunTrace::RunTrace(const mpi::Communicator& communicator, int threads, std::int64_t events)
    : recorder_(events, threads), clock_(measure_clock_offset(communicator)), origin_(steady_nanoseconds()) {
  communicator.broadcast(std::as_writable_bytes(std::span(&origin_, 1)), 0);
}

void check_trace_path(const fs::path& path, const fs::path& out) {
  const std::string found = obstacle(path, out);
  if (found.empty()) return;
  throw InputError({.what = "cannot write the trace",
                    .where = "--trace " + path.string(),
                    .found = found,
                    .expected = "a file's name in a folder that this user may write to",
                    .next = "choose another --trace"});
}

void write_trace(const mpi::Communicator& communicator, const fs::path& path, const RunTrace& trace) {
  communicator.agree([&] {
    if (communicator.rank() == 0) fs::create_directories(fs::absolute(path).parent_path());
  });
  const bool last = communicator.rank() == communicator.size() - 1;
  const std::string text =
      (communicator.rank() == 0 ? "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" : ",\n") +
      EventWriter(trace, communicator.rank()).write() + (last ? "\n]}\n" : "");
  const auto lengths = communicator.all_gather(static_cast<std::int64_t>(text.size()));
  const auto own = lengths.begin() + communicator.rank();
  SharedFile file(communicator, path);
  communicator.agree(
      [&] { file.write(text.data(), text.size(), std::accumulate(lengths.begin(), own, std::int64_t{0})); });
  file.commit();
  std::int64_t dropped[] = {trace.recorder().dropped()};
  communicator.max(std::span<std::int64_t>(dropped));
  if (communicator.rank() == 0 && dropped[0] > 0) {
    spdlog::warn("the trace is full: up to {} events of a rank came later and are left out", dropped[0]);
  }
}

}  // namespace halo::train
