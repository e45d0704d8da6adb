#include "halo/train/trace_text.hpp"

#include <fmt/format.h>

namespace halo::train {
namespace {

std::string gather_line(const nlohmann::json& gather) {
  const nlohmann::json& level = gather["level"];
  return fmt::format("{:>11.4f} {:>9.4f} {:>9.1f}  {} x {}, {} columns{}\n",
                     gather["waited_seconds_mean"].get<double>(), gather["hidden_seconds_mean"].get<double>(),
                     gather["bytes"].get<double>() / 1e6, gather["count"].get<std::int64_t>(),
                     gather["direction"].get<std::string>(), gather["columns"].get<std::int64_t>(),
                     level.is_null() ? "" : fmt::format(", rows to level {}", level.get<int>()));
}

}  // namespace

std::string trace_text(const nlohmann::json& summary) {
  const nlohmann::json trace = summary.value("trace", nlohmann::json(nullptr));
  if (trace.is_null()) return "";
  if (!trace.contains("parts")) return "trace: no epoch was recorded whole\n";
  std::string text = fmt::format(
      "where epoch {} went (the median of {}): {:.4f} s, mean over ranks\n    seconds     share  part\n",
      trace["median_epoch"].get<std::int64_t>(), trace["epochs"].get<std::int64_t>(),
      trace["epoch_seconds"].get<double>());
  for (const nlohmann::json& part : trace["parts"]) {
    text += fmt::format("{:>11.4f} {:>8.1f}%  {}\n", part["seconds"].get<double>(),
                        100.0 * part["share"].get<double>(), part["name"].get<std::string>());
  }
  if (!summary["gathers"].empty()) {
    text +=
        "halo rows of a training step, seconds mean over ranks\n     waited    hidden  MB (all)  gather\n";
  }
  for (const nlohmann::json& gather : summary["gathers"]) text += gather_line(gather);
  const nlohmann::json& late = trace["waited_for"];
  if (!late.is_null()) {
    text +=
        fmt::format("waited for most: rank {}, {:.4f} s of an epoch, last at {:.1f} of its exchanges\n",
                    late["rank"].get<int>(), late["seconds"].get<double>(), late["exchanges"].get<double>());
  }
  return text;
}

}  // namespace halo::train
