#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "halo/mpi/communicator.hpp"
#include "run_trace.hpp"

namespace halo::train {

/// Seconds of thread 0 in one of `events` of a rank, of one epoch and all that lies within, by what they were
/// spent on: first as many as the recorder has labels (stages, without the communication in them), then
/// kTraceKinds (all else; the kind epoch: what no event accounts for). They add up to the epoch. Within an
/// evaluation all is its.
std::vector<double> seconds_by_part(const TraceRecorder& recorder, std::span<const TraceEvent> events);

/// Collective. Where the epochs among `events` went, for summary.json: {"epochs", "median_epoch",
/// "epoch_seconds", "parts": [{"name", "seconds", "share"}], "waited_for": null or {"rank", "seconds",
/// "exchanges"}, "dropped_events"}. Seconds of parts are those of the median epoch by rank 0's clock, mean over
/// the ranks; waited_for has those of a mean epoch. On rank 0; null elsewhere.
nlohmann::json summarise_trace(const mpi::Communicator& communicator, const RunTrace& trace,
                               std::span<const TraceEvent> events);

}  // namespace halo::train
