#include "generate_command.hpp"

#include <fmt/format.h>

#include "halo/base/cpu.hpp"
#include "halo/base/error.hpp"

namespace halo::datasets {

template <typename T>
void GenerateCommand::add(CLI::App& command, const std::string& name, T& value, const std::string& kinds,
                          const std::string& text) {
  auto* option = command.add_option(name, value, fmt::format("[{}] {}", kinds, text));
  if (value != T{}) option->capture_default_str();
  special_.emplace_back(option, kinds);
}

GenerateCommand::GenerateCommand(CLI::App& command) {
  planted_.threads = static_cast<int>(usable_cpus().size());
  command.add_option("--kind", kind_, "sbm, rmat, grid, star or karate")
      ->required()
      ->check(CLI::IsMember({"sbm", "rmat", "grid", "star", "karate"}));
  command.add_option("--out", out_, "folder to make")->required();
  command.add_option("--seed", planted_.seed, "same seed, same bytes; karate has nothing random")
      ->capture_default_str();
  command.add_option("--threads", planted_.threads, "threads; the result does not depend on them")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  add(command, "--nodes", nodes_, "sbm star", "number of nodes (sbm: 2000, star: 1000)");
  add(command, "--classes", sbm_.classes, "sbm rmat",
      "number of label classes; sbm: planted, rmat: random labels");
  add(command, "--communities", sbm_.communities, "sbm",
      "planted communities, a multiple of --classes (default: one for each class)");
  add(command, "--degree", sbm_.degree, "sbm",
      "mean degree (with --directed: in-degree), before duplicates are dropped");
  add(command, "--homophily", sbm_.homophily, "sbm",
      "fraction of a node's edges that stay in its community and class");
  special_.emplace_back(command.add_flag("--directed", sbm_.directed, "[sbm] one-way edges"), "sbm");
  add(command, "--task", sbm_.task, "sbm",
      "what to plant: node_classification, multi_label (several classes a node) or node_regression");
  add(command, "--scale", rmat_.scale, "rmat", "2^scale nodes");
  add(command, "--edge-factor", rmat_.edge_factor, "rmat",
      "undirected edges drawn for each node, before duplicates are dropped");
  add(command, "--rows", grid_.rows, "grid", "rows");
  add(command, "--cols", grid_.cols, "grid", "columns");
  const std::string planted = "sbm rmat grid star";
  add(command, "--features", planted_.features, planted, "feature columns, 0 for none");
  add(command, "--signal", planted_.signal, planted,
      "length of a class's mean feature vector; the noise has deviation 1 in every column");
  add(command, "--train", planted_.split.train, planted,
      "train nodes: a fraction below 1, or a number of nodes");
  add(command, "--val", planted_.split.val, planted, "validation nodes, likewise");
  add(command, "--test", planted_.split.test, planted, "test nodes, likewise");
}

void GenerateCommand::check_kinds() const {
  for (const auto& [option, kinds] : special_) {
    const bool applies = fmt::format(" {} ", kinds).find(" " + kind_ + " ") != std::string::npos;
    if (option->count() == 0 || applies) continue;
    throw InputError(
        {.what = "an option of another kind of graph",
         .where = option->get_name(),
         .found = "--kind " + kind_,
         .expected = "an option for this kind (" + option->get_name() + " is for: " + kinds + ")",
         .next = "leave the option away"});
  }
}

Dataset GenerateCommand::make() const {
  check_kinds();
  if (kind_ == "karate") return generate_karate();
  if (kind_ == "grid") {
    GridOptions options = grid_;
    options.planted = planted_;
    return generate_grid(options);
  }
  if (kind_ == "star") {
    StarOptions options;
    options.planted = planted_;
    if (nodes_ != 0) options.nodes = nodes_;
    return generate_star(options);
  }
  if (kind_ == "sbm") {
    SbmOptions options = sbm_;
    options.planted = planted_;
    if (nodes_ != 0) options.nodes = nodes_;
    return generate_sbm(options);
  }
  RmatOptions options = rmat_;
  options.classes = sbm_.classes;
  options.planted = planted_;
  return generate_rmat(options);
}

}  // namespace halo::datasets
