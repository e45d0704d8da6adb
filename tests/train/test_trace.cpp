// The trace of a run, from events made by hand: parts that add up, clocks, the rank that others waited for,
// and the file.

#include <doctest/doctest.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "clock_offset.hpp"
#include "datasets/temporary_folder.hpp"
#include "exchange_waits.hpp"
#include "halo/base/error.hpp"
#include "run_trace.hpp"
#include "support/mpi_world.hpp"
#include "trace_summary.hpp"

namespace train = halo::train;
using halo::TraceEvent;
using halo::TraceKind;
using halo::testing::world;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TraceEvent event(TraceKind kind, std::int64_t begin, std::int64_t end, std::int32_t label = -1,
                 int thread = 0) {
  return {.begin = begin * kSecond,
          .end = end * kSecond,
          .value = 1,
          .label = label,
          .thread = thread,
          .kind = kind};
}

/// The same folder on every rank of this host.
class SharedFolder {
 public:
  SharedFolder() : path_(world().broadcast(folder_.path().string(), 0)) {}
  ~SharedFolder() { world().barrier(); }
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  halo::datasets::TemporaryFolder folder_;
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("clocks of one host need no correction, those of two are brought together within their bounds") {
  const std::array<train::Passage, 2> reference = {{{2, 12}, {20, 23}}};
  CHECK(train::clock_offset(std::array<train::Passage, 2>{{{0, 10}, {19, 24}}}, reference).offset == 0);
  // The same clock, 1000 ahead: the first barrier bounds by -1008 and -988, the second by -1004 and -996.
  const auto ahead =
      train::clock_offset(std::array<train::Passage, 2>{{{1000, 1010}, {1019, 1024}}}, reference);
  CHECK(ahead.offset == -1000);
  CHECK(ahead.error == 4);
}

TEST_CASE("clocks of the ranks of this test are those of one host") {
  CHECK(train::measure_clock_offset(world()).offset == 0);
}

TEST_CASE(
    "the parts of an epoch add up: a stage is what it computes, communication apart, evaluation whole") {
  halo::TraceRecorder recorder(0, 2);
  const auto forward = static_cast<std::size_t>(recorder.label("forward"));
  const auto scoring = static_cast<std::size_t>(recorder.label("evaluation"));
  const std::vector<TraceEvent> events = {
      event(TraceKind::kPack, 1, 2),           event(TraceKind::kInterior, 2, 4, 0),
      event(TraceKind::kInterior, 2, 9, 0, 1),  // another thread
      event(TraceKind::kWait, 5, 8),           event(TraceKind::kGather, 2, 8),
      event(TraceKind::kBoundary, 8, 9, 0),    event(TraceKind::kStage, 1, 10, 0),
      event(TraceKind::kAllreduce, 11, 14),    event(TraceKind::kSums, 10, 15),
      event(TraceKind::kWait, 17, 18),         event(TraceKind::kStage, 16, 19, 1),
      event(TraceKind::kEvaluation, 16, 20),   event(TraceKind::kEpoch, 0, 21),
  };
  const std::vector<double> seconds = train::seconds_by_part(recorder, events);
  const auto of = [&](TraceKind kind) { return seconds[2 + static_cast<std::size_t>(kind)]; };
  CHECK(seconds[forward] == doctest::Approx(5));
  CHECK(seconds[scoring] == doctest::Approx(0));
  CHECK(of(TraceKind::kPack) == doctest::Approx(1));
  CHECK(of(TraceKind::kWait) == doctest::Approx(3));
  CHECK(of(TraceKind::kAllreduce) == doctest::Approx(3));
  CHECK(of(TraceKind::kSums) == doctest::Approx(2));
  CHECK(of(TraceKind::kEvaluation) == doctest::Approx(4));
  CHECK(of(TraceKind::kEpoch) == doctest::Approx(3));
  CHECK(std::accumulate(seconds.begin(), seconds.end(), 0.0) == doctest::Approx(21));
}

TEST_CASE("the rank that comes last is found, with the seconds that the others waited while it was missing") {
  const train::RunTrace trace(world(), 1);
  const bool last = world().rank() == world().size() - 1;
  // An allreduce that the last rank comes to at 15 and that ends at 17; a gather that it posts at 24, which the others
  // wait for from 22 until 26 (2 of these 4 seconds are the network's).
  const std::int64_t came = last ? 15 : 10;
  const std::vector<TraceEvent> events = {event(TraceKind::kAllreduce, came, 17),
                                          event(TraceKind::kWait, last ? 25 : 22, 26),
                                          event(TraceKind::kGather, last ? 24 : 20, 26)};
  const train::LateRank late = train::find_late_rank(world(), trace, events);
  if (world().size() == 1) {
    CHECK(late.rank == -1);
    return;
  }
  CHECK(late.rank == world().size() - 1);
  CHECK(late.exchanges == 2);
  CHECK(late.seconds == doctest::Approx(5 + 2));
}

TEST_CASE("ranks whose recorders were full at different events are compared as far as all got") {
  const train::RunTrace trace(world(), 1);
  std::vector<TraceEvent> events = {event(TraceKind::kAllreduce, world().rank(), 9)};
  if (world().rank() == 0) events.push_back(event(TraceKind::kAllreduce, 20, 21));
  const train::LateRank late = train::find_late_rank(world(), trace, events);
  if (world().size() == 1) return;
  CHECK(late.rank == world().size() - 1);
  CHECK(late.exchanges == 1);
}

TEST_CASE("a summary is of the median epoch, and of what all ranks have whole") {
  const train::RunTrace trace(world(), 1);
  const std::vector<TraceEvent> events = {event(TraceKind::kEpoch, 0, 9),
                                          event(TraceKind::kOptimiser, 10, 12),
                                          event(TraceKind::kEpoch, 10, 14), event(TraceKind::kEpoch, 14, 15)};
  const nlohmann::json summary = train::summarise_trace(world(), trace, events);
  CHECK(summary.is_null() == (world().rank() != 0));
  if (world().rank() != 0) return;
  CHECK(summary["epochs"] == 3);
  CHECK(summary["epoch_seconds"].get<double>() == doctest::Approx(4));
  REQUIRE(summary["parts"].size() == 2);
  CHECK(summary["parts"][0]["name"] == "other");
  CHECK(summary["parts"][1]["name"] == "optimiser");
  CHECK(summary["parts"][1]["share"].get<double>() == doctest::Approx(0.5));
  CHECK(summary["waited_for"].is_null());
}

TEST_CASE("a trace without a whole epoch says so") {
  const train::RunTrace trace(world(), 1);
  const nlohmann::json summary = train::summarise_trace(world(), trace, {});
  if (world().rank() == 0) CHECK(summary == nlohmann::json({{"epochs", 0}, {"dropped_events", 0}}));
}

TEST_CASE("the file is JSON with the events of every rank, also of one that has none and one that was full") {
  const SharedFolder folder;
  train::RunTrace trace(world(), 2, world().rank() == 1 ? 0 : 10);
  if (world().rank() != 2) {
    const std::int32_t label = trace.recorder().label("a \"quoted\" label");
    const std::int64_t now = halo::steady_nanoseconds();
    trace.recorder().add(
        {.begin = now, .end = now + 2500, .value = 4, .label = label, .kind = TraceKind::kStage});
    trace.recorder().add(
        {.begin = now, .end = now + 1, .value = 80, .label = label, .kind = TraceKind::kGather});
  }
  train::write_trace(world(), folder / "t.json", trace);
  CHECK(!std::filesystem::exists(folder / "t.json.tmp"));
  if (world().rank() != 0) return;
  const auto json = nlohmann::json::parse(halo::datasets::read_bytes(folder / "t.json"));
  std::map<int, int> events;
  std::map<int, int> dropped;
  for (const nlohmann::json& entry : json["traceEvents"]) {
    const int rank = entry["pid"];
    if (entry["name"] == "halo_trace") dropped[rank] = entry["args"]["dropped_events"];
    if (entry["ph"] != "X") continue;
    ++events[rank];
    CHECK(entry["name"] == "a \"quoted\" label");
    CHECK(entry["ts"].get<double>() >= 0.0);
    if (entry["cat"] == "stage") {
      CHECK(entry["dur"] == 2.5);
      CHECK(entry["args"]["stage"] == 4);
      CHECK(entry["tid"] == 0);
    } else {
      CHECK(entry["args"]["bytes_sent"] == 80);
      CHECK(entry["tid"] == 2);
    }
  }
  REQUIRE(static_cast<int>(dropped.size()) == world().size());
  for (int rank = 0; rank < world().size(); ++rank) {
    CHECK(events[rank] == (rank == 1 || rank == 2 ? 0 : 2));
    CHECK(dropped[rank] == (rank == 1 ? 2 : 0));
  }
}

TEST_CASE("a path where no file can go is refused") {
  const halo::datasets::TemporaryFolder folder;
  halo::datasets::write_bytes(folder / "file", "x");
  train::check_trace_path(folder / "new.json", "");
  train::check_trace_path(folder / "file", "");
  train::check_trace_path(folder / "run" / "trace.json", folder / "run");  // the run folder will be made
  for (const auto& bad : {folder.path(), folder / "file" / "trace.json", folder / "new" / ""}) {
    CHECK_THROWS_WITH_AS(train::check_trace_path(bad, ""), doctest::Contains("--trace"), halo::InputError);
  }
  CHECK_THROWS_AS(train::check_trace_path(folder / "run", folder / "run"), halo::InputError);
}
