#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace halo::train {

/// Every option of a run with its resolved value, as the run folder keeps it and as a resumed run is compared
/// with it.
struct OptionRecord {
  struct Entry {
    std::string group;  ///< heading, "Training"
    std::string name;   ///< as on the command line without --, "weight-decay"
    nlohmann::json value;
  };
  std::vector<Entry> entries;

  /// Replaces the value of an option that is there; nothing if there is no such option.
  void set(const std::string& name, nlohmann::json value);
  /// By key_of(name), in the order of the entries.
  nlohmann::ordered_json to_json() const;
  /// A text that `gnn_train --config` accepts and that gives the same values.
  std::string to_toml() const;
};

/// The key of an option in JSON files: `weight_decay` for `weight-decay`.
std::string key_of(std::string name);

/// Checks that a run whose options are `record` may continue one whose options were `stored` (to_json() of
/// its record): what decides the result has to be the same, the number of epochs may not be lowered, nor
/// raised where the learning rate follows it (cosine). InputError with both values; `where` names the stored
/// ones.
void check_continues(const nlohmann::json& stored, const OptionRecord& record, const std::string& where);

}  // namespace halo::train
