#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace halo::train {

/// Where an epoch went, as lines for a reader: of a run's summary that has "trace" and "gathers". "" where it
/// has no trace.
std::string trace_text(const nlohmann::json& summary);

}  // namespace halo::train
