#include "halo/partition/quality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace halo::partition {
namespace {

using Figures = std::vector<std::int64_t>;

struct Spread {
  std::int64_t total = 0;
  std::int64_t least = 0;
  std::int64_t most = 0;
  double mean = 0.0;
  /// Largest part / mean part; 1 where there is nothing to share.
  double balance() const { return total == 0 ? 1.0 : static_cast<double>(most) / mean; }
};

Spread spread_of(const Figures& figures) {
  Spread spread;
  spread.total = std::accumulate(figures.begin(), figures.end(), std::int64_t{0});
  spread.least = *std::ranges::min_element(figures);
  spread.most = *std::ranges::max_element(figures);
  spread.mean = static_cast<double>(spread.total) / static_cast<double>(figures.size());
  return spread;
}

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Largest halo rows / own rows of a part.
double largest_halo_ratio(const Figures& halo_rows, const Figures& nodes) {
  double largest = 0.0;
  for (std::size_t p = 0; p < nodes.size(); ++p) largest = std::max(largest, ratio(halo_rows[p], nodes[p]));
  return largest;
}

nlohmann::json spread_json(const Figures& figures) {
  const Spread spread = spread_of(figures);
  nlohmann::json json{{"total", spread.total},
                      {"min", spread.least},
                      {"max", spread.most},
                      {"mean", spread.mean},
                      {"balance", spread.balance()}};
  if (std::ssize(figures) <= kPartsInFull) json["parts"] = figures;
  return json;
}

nlohmann::json halo_json(const HaloFigures& halo, const Quality& quality) {
  return {{"halo_rows", spread_json(halo.halo_rows)},
          {"sent_rows", spread_json(halo.sent_rows)},
          {"owner_parts", spread_json(halo.owner_parts)},
          {"cut_entries", spread_json(halo.cut_entries)},
          {"halo_ratio", ratio(spread_of(halo.halo_rows).total, quality.num_nodes)},
          {"halo_ratio_max", largest_halo_ratio(halo.halo_rows, quality.nodes)}};
}

/// Cut edges: a symmetric graph lists each of them twice.
std::int64_t cut_edges(const Quality& quality) {
  return spread_of(quality.in.cut_entries).total / (quality.symmetric ? 2 : 1);
}

std::string table_line(const std::string& name, const Figures& figures) {
  const Spread spread = spread_of(figures);
  return fmt::format("{:<24}{:>14}{:>12}{:>12}{:>14.1f}{:>10.3f}\n", name, spread.total, spread.least,
                     spread.most, spread.mean, spread.balance());
}

std::string halo_lines(const std::string& direction, const HaloFigures& halo, const Quality& quality) {
  std::string text = table_line(direction + "halo rows", halo.halo_rows);
  text += table_line(direction + "sent rows", halo.sent_rows);
  text += table_line(direction + "owner parts", halo.owner_parts);
  text += fmt::format("{:<24}{:>14.4f}{:>12}{:>12.4f}\n", direction + "halo ratio",
                      ratio(spread_of(halo.halo_rows).total, quality.num_nodes), "",
                      largest_halo_ratio(halo.halo_rows, quality.nodes));
  return text;
}

std::vector<PartId> part_of_each_node(std::span<const NodeId> part_offsets) {
  std::vector<PartId> part(at(part_offsets.back()));
  for (std::size_t p = 0; p + 1 < part_offsets.size(); ++p) {
    std::fill(part.begin() + part_offsets[p], part.begin() + part_offsets[p + 1], static_cast<PartId>(p));
  }
  return part;
}

}  // namespace

HaloFigures measure_halo(const graph::Csr& rows, std::span<const NodeId> part_offsets) {
  const std::size_t parts = part_offsets.size() - 1;
  const std::vector<PartId> part = part_of_each_node(part_offsets);
  HaloFigures halo;
  for (Figures* figures : {&halo.halo_rows, &halo.sent_rows, &halo.owner_parts, &halo.cut_entries}) {
    figures->assign(parts, 0);
  }
  // The last part that needed a node, and the last part that met an owner.
  std::vector<PartId> needed_by(part.size(), -1);
  std::vector<PartId> owner_met_by(parts, -1);
  for (std::size_t p = 0; p < parts; ++p) {
    const auto own = static_cast<PartId>(p);
    for (EdgeId e = rows.indptr[at(part_offsets[p])]; e < rows.indptr[at(part_offsets[p + 1])]; ++e) {
      const std::size_t node = at(rows.indices[at(e)]);
      const PartId owner = part[node];
      if (owner == own) continue;
      ++halo.cut_entries[p];
      if (needed_by[node] == own) continue;
      needed_by[node] = own;
      ++halo.halo_rows[p];
      ++halo.sent_rows[at(owner)];
      if (owner_met_by[at(owner)] == own) continue;
      owner_met_by[at(owner)] = own;
      ++halo.owner_parts[p];
    }
  }
  return halo;
}

Quality measure_quality(const graph::Csr& in, const graph::Csr& out, bool symmetric, const NodeOrder& order,
                        std::span<const std::uint8_t> is_train) {
  Quality quality;
  quality.num_nodes = in.num_nodes();
  quality.num_edges = in.num_edges();
  quality.symmetric = symmetric;
  for (std::size_t p = 0; p < order.boundary_begin.size(); ++p) {
    const NodeId begin = order.part_offsets[p];
    const NodeId end = order.part_offsets[p + 1];
    quality.nodes.push_back(end - begin);
    quality.boundary_nodes.push_back(end - order.boundary_begin[p]);
    quality.edges.push_back(in.indptr[at(end)] - in.indptr[at(begin)]);
    const auto train = is_train.subspan(at(begin), at(end - begin));
    quality.train_nodes.push_back(std::ssize(train) - std::ranges::count(train, std::uint8_t{0}));
  }
  quality.in = measure_halo(in, order.part_offsets);
  if (!symmetric) quality.out = measure_halo(out, order.part_offsets);
  return quality;
}

nlohmann::json to_json(const Quality& quality) {
  nlohmann::json json{{"cut_edges", cut_edges(quality)},
                      {"cut_fraction", ratio(spread_of(quality.in.cut_entries).total, quality.num_edges)},
                      {"nodes", spread_json(quality.nodes)},
                      {"boundary_nodes", spread_json(quality.boundary_nodes)},
                      {"edges", spread_json(quality.edges)},
                      {"train_nodes", spread_json(quality.train_nodes)},
                      {"in", halo_json(quality.in, quality)}};
  if (!quality.symmetric) json["out"] = halo_json(quality.out, quality);
  return json;
}

std::string to_table(const Quality& quality) {
  std::string text = fmt::format("{:<24}{:>14}{:>12}{:>12}{:>14}{:>10}\n", "per part", "total", "min", "max",
                                 "mean", "max/mean");
  text += table_line("nodes", quality.nodes);
  text += table_line("boundary nodes", quality.boundary_nodes);
  text += table_line("edges", quality.edges);
  text += table_line("train nodes", quality.train_nodes);
  if (quality.symmetric) {
    text += halo_lines("", quality.in, quality);
  } else {
    text += halo_lines("in: ", quality.in, quality) + halo_lines("out: ", quality.out, quality);
  }
  text += fmt::format("{:<24}{:>14}  ({:.2f} % of the edges)\n", "cut edges", cut_edges(quality),
                      100.0 * ratio(spread_of(quality.in.cut_entries).total, quality.num_edges));
  return text;
}

}  // namespace halo::partition
