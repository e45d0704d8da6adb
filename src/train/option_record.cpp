#include "halo/train/option_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "halo/base/error.hpp"

namespace halo::train {
namespace {

/// Options that decide where and how fast a run goes, how much it keeps or says, but not what it computes.
constexpr std::array<std::string_view, 11> kFreeToDiffer = {
    "partition",        "out",  "threads", "transport",   "quiet", "log_level", "checkpoint_every",
    "keep_checkpoints", "runs", "epochs",  "memory_limit"};

[[noreturn]] void refuse(const std::string& what, const OptionRecord::Entry& entry,
                         const nlohmann::json& stored, const std::string& where) {
  throw InputError({.what = what,
                    .where = "--" + entry.name,
                    .found = entry.value.dump(),
                    .expected = fmt::format("{}, as in {}", stored.dump(), where),
                    .next = "leave the option out, or start a new run with another --out"});
}

void check_epochs(const nlohmann::json& stored, const OptionRecord::Entry& entry, const std::string& where) {
  const nlohmann::json& before = stored.at("epochs");
  if (entry.value == before) return;
  if (entry.value < before) refuse("a resumed run cannot have fewer epochs", entry, before, where);
  if (stored.value("schedule", "") == "cosine") {
    refuse("the cosine schedule follows the number of epochs, which cannot be raised", entry, before, where);
  }
}

}  // namespace

void OptionRecord::set(const std::string& name, nlohmann::json value) {
  for (Entry& entry : entries) {
    if (entry.name == name) entry.value = std::move(value);
  }
}

nlohmann::ordered_json OptionRecord::to_json() const {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const Entry& entry : entries) json[key_of(entry.name)] = entry.value;
  return json;
}

std::string OptionRecord::to_toml() const {
  std::string text;
  std::string group;
  for (const Entry& entry : entries) {
    if (entry.group != group) {
      group = entry.group;
      text += fmt::format("{}# {}\n", text.empty() ? "" : "\n", group);
    }
    text += fmt::format("{} = {}\n", entry.name, entry.value.dump());
  }
  return text;
}

std::string key_of(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

void check_continues(const nlohmann::json& stored, const OptionRecord& record, const std::string& where) {
  for (const OptionRecord::Entry& entry : record.entries) {
    const std::string key = key_of(entry.name);
    if (!stored.contains(key)) continue;
    if (key == "epochs") check_epochs(stored, entry, where);
    if (std::find(kFreeToDiffer.begin(), kFreeToDiffer.end(), key) != kFreeToDiffer.end()) continue;
    if (stored[key] != entry.value) {
      refuse("a resumed run has to have the options it began with", entry, stored[key], where);
    }
  }
}

}  // namespace halo::train
