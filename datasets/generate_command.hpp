#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "halo/datasets/generate.hpp"

namespace halo::datasets {

/// The options of `gnn_dataset generate`.
class GenerateCommand {
 public:
  /// Adds them to a subcommand.
  explicit GenerateCommand(CLI::App& command);

  /// Generates what was asked for. InputError on options out of range or of another kind of graph.
  Dataset make() const;
  const std::string& out() const { return out_; }

 private:
  template <typename T>
  void add(CLI::App& command, const std::string& name, T& value, const std::string& kinds,
           const std::string& text);
  void check_kinds() const;

  std::string kind_, out_;
  GridOptions grid_;
  SbmOptions sbm_;
  RmatOptions rmat_;
  PlantedOptions planted_;
  std::int64_t nodes_ = 0;
  /// Options that not every kind has, and the kinds that have them.
  std::vector<std::pair<CLI::Option*, std::string>> special_;
};

}  // namespace halo::datasets
