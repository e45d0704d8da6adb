#include "halo/partition/metis_graph.hpp"

#include <fmt/format.h>
#include <metis.h>

#include <algorithm>
#include <array>
#include <limits>

#include "halo/base/error.hpp"

namespace halo::partition {
namespace {

static_assert(sizeof(idx_t) == sizeof(std::int32_t), "MetisGraph holds METIS' 32-bit ids");

void check_sum(std::int64_t sum, const std::string& what) {
  if (sum > std::numeric_limits<idx_t>::max()) {
    throw InputError({.what = fmt::format(
                          "the graph is too large for this METIS: the sum of {} does not fit 32 bits", what),
                      .where = "METIS built with IDXTYPEWIDTH 32",
                      .found = fmt::format("{}", sum),
                      .expected = fmt::format("at most {}", std::numeric_limits<idx_t>::max()),
                      .next = "balance other figures with --balance, or use --method block or random"});
  }
}

void check_sums(const MetisGraph& graph) {
  const auto constraints = at(graph.constraints);
  for (std::size_t c = 0; c < constraints && !graph.node_weights.empty(); ++c) {
    std::int64_t sum = 0;
    for (std::size_t i = c; i < graph.node_weights.size(); i += constraints) sum += graph.node_weights[i];
    check_sum(sum, "node weights");
  }
  std::int64_t sum = 0;
  for (const std::int32_t weight : graph.edge_weights) sum += weight;
  check_sum(sum, "edge weights");
}

/// What METIS said, as an exception.
void check_status(int status) {
  if (status == METIS_OK) return;
  if (status == METIS_ERROR_MEMORY) throw Error("METIS ran out of memory");
  throw Error(fmt::format("METIS failed with status {} ({})", status,
                          status == METIS_ERROR_INPUT ? "it refused its input" : "no reason given"));
}

}  // namespace

std::vector<PartId> run_metis(MetisGraph& graph, const MetisSettings& settings) {
  if (settings.parts < 2 || settings.parts > graph.num_nodes()) {
    throw Error(fmt::format("METIS asked for {} parts of {} nodes", settings.parts, graph.num_nodes()));
  }
  check_sums(graph);
  std::array<idx_t, METIS_NOPTIONS> options{};
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_SEED] = static_cast<idx_t>(settings.seed & 0x7fffffffU);
  options[METIS_OPTION_OBJTYPE] =
      settings.objective == Objective::kVolume ? METIS_OBJTYPE_VOL : METIS_OBJTYPE_CUT;
  std::vector<real_t> imbalance(at(graph.constraints), static_cast<real_t>(settings.imbalance));
  idx_t nodes = graph.num_nodes();
  idx_t parts = settings.parts;
  idx_t value = 0;
  std::vector<PartId> part(at(nodes), -1);
  const auto or_null = [](std::vector<std::int32_t>& values) {
    return values.empty() ? nullptr : values.data();
  };
  // METIS looks at the neighbour pointer even where there is not one edge.
  idx_t no_neighbour = 0;
  idx_t* const neighbours = graph.neighbours.empty() ? &no_neighbour : graph.neighbours.data();
  const auto call = settings.scheme == Scheme::kKway ? METIS_PartGraphKway : METIS_PartGraphRecursive;
  check_status(call(&nodes, &graph.constraints, graph.offsets.data(), neighbours, or_null(graph.node_weights),
                    nullptr, or_null(graph.edge_weights), &parts, nullptr, imbalance.data(), options.data(),
                    &value, part.data()));
  if (std::ranges::any_of(part, [&](PartId p) { return p < 0 || p >= settings.parts; })) {
    throw Error("METIS reported success but left nodes without a valid part");
  }
  return part;
}

std::string metis_version() {
  return fmt::format("{}.{}.{}", METIS_VER_MAJOR, METIS_VER_MINOR, METIS_VER_SUBMINOR);
}

}  // namespace halo::partition
