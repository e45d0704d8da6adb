#include "halo/base/trace.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace halo {
namespace {

constexpr std::array<const char*, kTraceKinds> kNames = {
    "epoch",          "evaluation", "optimiser", "report", "checkpoint",    "stage",     "interior tiles",
    "boundary tiles", "tiles",      "gather",    "pack",   "wait for halo", "allreduce", "exact sums"};

}  // namespace

std::int64_t steady_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

const char* to_string(TraceKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

TraceRecorder::TraceRecorder(std::int64_t capacity, int threads)
    : events_(static_cast<std::size_t>(capacity)), threads_(threads) {}

std::int32_t TraceRecorder::label(const std::string& text) {
  const auto found = std::find(labels_.begin(), labels_.end(), text);
  const auto position = found - labels_.begin();
  if (found == labels_.end()) labels_.push_back(text);
  return static_cast<std::int32_t>(position);
}

}  // namespace halo
