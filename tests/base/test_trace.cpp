#include <doctest/doctest.h>

#include "halo/base/trace.hpp"

using halo::TraceKind;
using halo::TraceRecorder;
using halo::TraceSpan;

TEST_CASE("a trace recorder that is full keeps the beginning and counts the rest") {
  TraceRecorder recorder(3, 1);
  CHECK(recorder.events().empty());
  for (int k = 0; k < 5; ++k) recorder.add({.begin = k, .end = k + 1, .value = 10 * k});
  REQUIRE(recorder.events().size() == 3);
  for (int k = 0; k < 3; ++k) CHECK(recorder.events()[static_cast<std::size_t>(k)].value == 10 * k);
  CHECK(recorder.dropped() == 2);
}

TEST_CASE("a trace recorder without room drops everything") {
  TraceRecorder recorder(0, 2);
  recorder.add({});
  CHECK(recorder.events().empty());
  CHECK(recorder.dropped() == 1);
}

TEST_CASE("the same text has the same label") {
  TraceRecorder recorder(1, 1);
  CHECK(recorder.label("a") == 0);
  CHECK(recorder.label("b") == 1);
  CHECK(recorder.label("a") == 0);
  CHECK(recorder.labels().size() == 2);
}

TEST_CASE("spans nest as their scopes do, and without a recorder there is nothing to record") {
  TraceRecorder recorder(4, 1);
  {
    const TraceSpan outer(&recorder, TraceKind::kEpoch, 7);
    { const TraceSpan inner(&recorder, TraceKind::kStage, 2, recorder.label("forward")); }
    const TraceSpan nothing(nullptr, TraceKind::kStage);
  }
  REQUIRE(recorder.events().size() == 2);
  const halo::TraceEvent& inner = recorder.events()[0];
  const halo::TraceEvent& outer = recorder.events()[1];
  CHECK(inner.kind == TraceKind::kStage);
  CHECK(inner.value == 2);
  CHECK(inner.label == 0);
  CHECK(outer.kind == TraceKind::kEpoch);
  CHECK(outer.value == 7);
  CHECK(outer.label == -1);
  CHECK(outer.begin <= inner.begin);
  CHECK(inner.begin <= inner.end);
  CHECK(inner.end <= outer.end);
}

TEST_CASE("every kind of event has a name of its own") {
  for (int a = 0; a < halo::kTraceKinds; ++a) {
    for (int b = 0; b < a; ++b) {
      CHECK(std::string(to_string(static_cast<TraceKind>(a))) != to_string(static_cast<TraceKind>(b)));
    }
  }
}
