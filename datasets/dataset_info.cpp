#include "halo/datasets/dataset_info.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "halo/graph/csr.hpp"

namespace halo::datasets {
namespace {

void describe_edges(const Dataset& dataset, DatasetInfo& info) {
  const graph::Csr in =
      graph::build_in_edges(dataset.num_nodes, dataset.sources, dataset.targets, dataset.edge_weight);
  info.edges = in.num_edges();
  info.duplicates = graph::count_duplicates(in);
  info.symmetric = graph::is_symmetric(in);
  info.weighted = !in.weights.empty();
  info.degree_min = in.num_edges();
  std::vector<bool> touched(static_cast<std::size_t>(in.num_nodes()), false);
  for (NodeId node = 0; node < in.num_nodes(); ++node) {
    const auto degree = static_cast<EdgeId>(in.neighbours(node).size());
    info.degree_min = std::min(info.degree_min, degree);
    info.degree_max = std::max(info.degree_max, degree);
    for (const NodeId other : in.neighbours(node)) {
      if (other == node) {
        ++info.loops;
        continue;
      }
      touched[static_cast<std::size_t>(node)] = true;
      touched[static_cast<std::size_t>(other)] = true;
    }
  }
  info.isolated = std::count(touched.begin(), touched.end(), false);
  info.degree_mean = static_cast<double>(info.edges) / static_cast<double>(info.nodes);
}

void describe_labels(const Dataset& dataset, DatasetInfo& info) {
  info.classes = dataset.num_classes;
  for (NodeId node = 0; node < dataset.num_nodes; ++node) info.labelled += dataset.has_label(node) ? 1 : 0;
  if (dataset.labels.empty()) return;
  EdgeId known = 0, equal = 0;
  for (std::size_t edge = 0; edge < dataset.sources.size(); ++edge) {
    const NodeId source = dataset.sources[edge], target = dataset.targets[edge];
    const auto a = dataset.labels[static_cast<std::size_t>(source)];
    const auto b = dataset.labels[static_cast<std::size_t>(target)];
    if (source == target || a < 0 || b < 0) continue;
    ++known;
    if (a == b) ++equal;
  }
  if (known > 0) info.homophily = static_cast<double>(equal) / static_cast<double>(known);
}

std::string describe_edge_kind(const DatasetInfo& info) {
  return fmt::format("{}{}", info.symmetric ? "undirected (every edge in both directions)" : "directed",
                     info.weighted ? ", weighted" : "");
}

std::string describe_features(const DatasetInfo& info) {
  if (info.feature_dtype.empty()) return "none";
  const std::string form =
      info.feature_sparse ? fmt::format("sparse, {} entries", info.feature_nonzeros) : "dense";
  return fmt::format("{} columns of {}, {}", info.feature_cols, info.feature_dtype, form);
}

}  // namespace

DatasetInfo describe(const Dataset& dataset) {
  DatasetInfo info;
  info.name = dataset.name;
  info.task = dataset.task;
  info.nodes = dataset.num_nodes;
  info.declared_undirected = dataset.declared_directed == false;
  describe_edges(dataset, info);
  if (dataset.features) {
    info.feature_cols = dataset.features->cols();
    info.feature_dtype = dataset.features->dtype();
    const SparseFeatures* sparse = dataset.features->as_sparse();
    info.feature_sparse = sparse != nullptr;
    if (sparse != nullptr) info.feature_nonzeros = sparse->num_entries();
  }
  describe_labels(dataset, info);
  const auto count = [&](Split split) {
    return std::count(dataset.split.begin(), dataset.split.end(), split);
  };
  info.train = count(Split::kTrain);
  info.val = count(Split::kValidation);
  info.test = count(Split::kTest);
  info.val_links = dataset.val_links.size();
  info.test_links = dataset.test_links.size();
  info.negatives = dataset.link_counts().negatives;
  return info;
}

std::string to_text(const DatasetInfo& info) {
  std::string text;
  const auto line = [&text](const char* name, const std::string& value) {
    text += fmt::format("{:<12} {}\n", name, value);
  };
  line("name", info.name);
  line("nodes", fmt::format("{} ({} isolated)", info.nodes, info.isolated));
  line("edges", fmt::format("{} ({} loops, {} duplicates), {}", info.edges, info.loops, info.duplicates,
                            describe_edge_kind(info)));
  line("in-degree",
       fmt::format("min {}, mean {:.2f}, max {}", info.degree_min, info.degree_mean, info.degree_max));
  line("features", describe_features(info));
  if (info.task == kLinkPrediction) {
    line("held out", fmt::format("{} validation and {} test edges with {} negatives each", info.val_links,
                                 info.test_links, info.negatives));
    return text;
  }
  line(info.task == kNodeRegression ? "targets" : "classes",
       info.classes == 0 ? "none" : fmt::format("{} ({})", info.classes, info.task));
  line("labelled", fmt::format("{} nodes", info.labelled));
  line("split", fmt::format("train {}, val {}, test {}", info.train, info.val, info.test));
  line("homophily", info.homophily < 0
                        ? "unknown"
                        : fmt::format("{:.4f} of the edges stay in their class", info.homophily));
  return text;
}

nlohmann::json to_json(const DatasetInfo& info) {
  nlohmann::json json = {
      {"name", info.name},
      {"task", info.task},
      {"nodes", info.nodes},
      {"isolated", info.isolated},
      {"edges", info.edges},
      {"loops", info.loops},
      {"duplicates", info.duplicates},
      {"symmetric", info.symmetric},
      {"weighted", info.weighted},
      {"in_degree", {{"min", info.degree_min}, {"mean", info.degree_mean}, {"max", info.degree_max}}},
      {"features",
       {{"cols", info.feature_cols}, {"dtype", info.feature_dtype}, {"sparse", info.feature_sparse}}},
      {"classes", info.classes},
      {"labelled", info.labelled},
      {"split", {{"train", info.train}, {"val", info.val}, {"test", info.test}}},
      {"homophily", nullptr}};
  if (info.feature_sparse) json["features"]["entries"] = info.feature_nonzeros;
  if (info.task == kLinkPrediction) {
    json["held_out"] = {
        {"validation", info.val_links}, {"test", info.test_links}, {"negatives", info.negatives}};
  }
  if (info.homophily >= 0) json["homophily"] = info.homophily;
  return json;
}

}  // namespace halo::datasets
