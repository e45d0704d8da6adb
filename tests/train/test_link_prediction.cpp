#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "dist/shared_folder.hpp"
#include "halo/base/counter_rng.hpp"
#include "halo/base/exact_sum.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/nn/models.hpp"
#include "halo/train/link_prediction.hpp"
#include "support/mpi_world.hpp"
#include "support/small_graphs.hpp"
#include "support/small_partition.hpp"

using halo::at;
using halo::CounterRng;
using halo::MatrixView;
using halo::NodeId;
using halo::dist::LocalPartition;
using halo::testing::SmallPartition;
using halo::testing::world;
namespace train = halo::train;

namespace {

constexpr std::int64_t kCols = 4;
constexpr std::uint64_t kSeed = 11, kEpoch = 3;

/// Links of both sets, and the graph in 6 parts.
SmallPartition make_whole(const halo::graph::Csr& graph) {
  SmallPartition whole = halo::testing::make_small_partition(graph, 6);
  whole.task = halo::datasets::kLinkPrediction;
  const NodeId nodes = graph.num_nodes();
  for (std::size_t set = 0; set < 2; ++set) {
    whole.link_offsets[set] = {0};
    for (std::size_t part = 0; part < 6; ++part) {
      for (NodeId u = whole.part_offsets[part]; u < whole.part_offsets[part + 1]; ++u) {
        const NodeId step = u + static_cast<NodeId>(set);
        whole.links[set].push_back({nodes - 1 - std::ssize(whole.links[set]), u, (3 * step + 1) % nodes,
                                    (5 * step + 2) % nodes, (u + 4) % nodes, (7 * step) % nodes});
      }
      whole.link_offsets[set].push_back(std::ssize(whole.links[set]));
    }
  }
  return whole;
}

LocalPartition load(const SmallPartition& whole) {
  const halo::testing::SharedFolder folder;
  if (world().rank() == 0) halo::testing::write_small_partition(folder.path(), whole);
  world().barrier();
  return halo::dist::load_partition(world(), folder.path());
}

halo::nn::Program make_model(const std::string& decoder) {
  halo::nn::ModelOptions options;
  options.hidden = kCols;
  options.encoder = true;
  options.decoder = decoder;
  return halo::nn::build_model(options, 3, 0);
}

/// Row of a node: a function of its original id.
template <typename Real>
std::vector<Real> row_of(NodeId original) {
  halo::RandomStream stream(CounterRng(5, 0, 0).row_key(original));
  std::vector<Real> row;
  for (std::int64_t c = 0; c < kCols; ++c) row.push_back(static_cast<Real>(stream.normal()));
  return row;
}

/// [owned x kCols]
template <typename Real>
std::vector<Real> rows_of(const LocalPartition& local) {
  std::vector<Real> rows;
  for (const NodeId id : local.graph.original_id) {
    const auto row = row_of<Real>(id);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}

template <typename Real>
std::vector<Real> parameters_of(const halo::nn::Program& model) {
  std::vector<Real> parameters(at(model.parameter_count()));
  halo::RandomStream stream(8);
  for (Real& value : parameters) value = static_cast<Real>(stream.normal() / 2);
  return parameters;
}

struct Pair {
  NodeId u, v;  ///< original ids
  bool positive;
};

/// All pairs of the epoch, found in the whole graph; by first end.
std::vector<Pair> all_pairs(const SmallPartition& whole, std::int64_t negatives) {
  const NodeId nodes = whole.in.num_nodes();
  const CounterRng turns(kSeed, kEpoch, 0x1000001), random(kSeed, kEpoch, 0x1000002);
  std::set<std::pair<NodeId, NodeId>> edges;
  for (NodeId target = 0; target < nodes; ++target) {
    for (const NodeId source : whole.in.neighbours(target)) {
      const NodeId u = nodes - 1 - source, v = nodes - 1 - target;
      if (u == v) continue;
      edges.emplace(whole.symmetric ? std::pair(std::min(u, v), std::max(u, v)) : std::pair(u, v));
    }
  }
  std::vector<Pair> pairs;
  for (auto [u, v] : edges) {
    if (whole.symmetric && CounterRng::word(turns.row_key(u), static_cast<std::uint64_t>(v)) >> 63 != 0)
      std::swap(u, v);
    pairs.push_back({u, v, true});
    halo::RandomStream stream(CounterRng::word(random.row_key(u), static_cast<std::uint64_t>(v)));
    for (std::int64_t k = 0; k < negatives; ++k) {
      const auto other = static_cast<NodeId>(stream.below(static_cast<std::uint64_t>(nodes - 1)));
      pairs.push_back({u, other < u ? other : other + 1, false});
    }
  }
  return pairs;
}

/// The loss and gradient of the dot product, by the definition, in the order that the groups of tiles fix.
template <typename Real>
struct Twin {
  Twin(const SmallPartition& whole, std::int64_t negatives) {
    const auto pairs = all_pairs(whole, negatives);
    const NodeId nodes = whole.in.num_nodes();
    // Ends of each node: (other, positive, first).
    std::map<NodeId, std::vector<std::tuple<NodeId, bool, bool>>> ends;
    for (const Pair& pair : pairs) {
      ends[pair.u].emplace_back(pair.v, pair.positive, true);
      ends[pair.v].emplace_back(pair.u, pair.positive, false);
    }
    std::vector<std::int64_t> limbs(at(halo::exact_limb_count(1)));
    for (std::size_t group = 0; group + 1 < whole.group_offsets.size(); ++group) {
      double sum = 0.0;
      for (NodeId node = whole.tile_offsets[at(whole.group_offsets[group])];
           node < whole.tile_offsets[at(whole.group_offsets[group + 1])]; ++node) {
        const NodeId own = nodes - 1 - node;
        auto& mine = ends[own];
        std::ranges::sort(mine);
        gradient[own].assign(at(kCols), Real{0});
        for (const auto& [other, positive, first] : mine)
          sum += add(own, other, positive, first, pairs.size());
      }
      halo::exact_add<double>(std::span(&sum, 1), 0, 1, limbs);
    }
    halo::exact_values<double>(limbs, 0, 1, std::span(&loss, 1));
    loss /= static_cast<double>(pairs.size());
  }

  /// Returns the pair's term of the loss where it counts.
  double add(NodeId own, NodeId other, bool positive, bool first, std::size_t pairs) {
    const auto x = row_of<Real>(own), y = row_of<Real>(other);
    Real score{0};
    for (std::size_t c = 0; c < x.size(); ++c) score += x[c] * y[c];
    const auto s = static_cast<double>(score);
    const double slope = (1.0 / (1.0 + std::exp(-s)) - (positive ? 1.0 : 0.0)) / static_cast<double>(pairs);
    for (std::size_t c = 0; c < x.size(); ++c) gradient[own][c] += static_cast<Real>(slope) * y[c];
    const double toward = positive ? -s : s;
    return first ? std::max(toward, 0.0) + std::log1p(std::exp(-std::abs(toward))) : 0.0;
  }

  double loss = 0.0;
  std::map<NodeId, std::vector<Real>> gradient;  ///< by original id
};

template <typename Real>
struct Computed {
  double loss;
  std::vector<Real> dh, gradient;
};

template <typename Real>
Computed<Real> compute(const LocalPartition& local, const std::string& decoder, std::int64_t negatives,
                       int threads, std::vector<Real> h, const std::vector<Real>& parameters) {
  const auto model = make_model(decoder);
  const auto loss = train::make_link_loss<Real>(world(), local, model,
                                                {.decoder = decoder, .negatives = negatives}, threads);
  Computed<Real> computed{0.0, std::vector<Real>(h.size(), Real{-9}), std::vector<Real>(parameters.size())};
  const halo::LocalId owned = local.graph.owned;
  computed.loss = loss->compute(MatrixView<const Real>(h.data(), owned, kCols), parameters, kSeed, kEpoch,
                                {computed.dh.data(), owned, kCols}, computed.gradient);
  return computed;
}

template <typename Real>
void check_against_twin(const SmallPartition& whole, std::int64_t negatives, int threads) {
  const LocalPartition local = load(whole);
  const Twin<Real> twin(whole, negatives);
  const auto parameters = parameters_of<Real>(make_model("dot"));
  const auto found = compute<Real>(local, "dot", negatives, threads, rows_of<Real>(local), parameters);
  CHECK(found.loss == twin.loss);
  CHECK(found.gradient == std::vector<Real>(parameters.size()));
  for (std::size_t i = 0; i < local.graph.original_id.size(); ++i) {
    const auto row = std::vector<Real>(found.dh.begin() + static_cast<std::ptrdiff_t>(i) * kCols,
                                       found.dh.begin() + static_cast<std::ptrdiff_t>(i + 1) * kCols);
    CHECK(row == twin.gradient.at(local.graph.original_id[i]));
  }
}

bool has_pairs(const halo::graph::Csr& graph) {
  for (NodeId node = 0; node < graph.num_nodes(); ++node) {
    for (const NodeId other : graph.neighbours(node)) {
      if (other != node) return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("loss and gradient are bit for bit those of the whole graph, on any number of ranks and threads") {
  for (const auto& [name, graph] : halo::testing::small_graphs()) {
    if (!has_pairs(graph)) continue;
    INFO(name);
    const SmallPartition whole = make_whole(graph);
    check_against_twin<float>(whole, 1, 1);
    check_against_twin<double>(whole, 1, 2);
    check_against_twin<float>(whole, 3, 2);
  }
  check_against_twin<float>(make_whole(halo::testing::random_graph(300, 0.3, true, 4)), 1, 2);
}

TEST_CASE("a graph without pairs is refused on every rank") {
  for (const auto& graph : {halo::testing::without_edges(7), halo::testing::without_edges(1)}) {
    const LocalPartition local = load(make_whole(graph));
    CHECK_THROWS_AS(train::make_link_loss<float>(world(), local, make_model("dot"), {}, 1), halo::InputError);
  }
}

TEST_CASE("the gradient of the mlp decoder is the slope of its loss") {
  const LocalPartition local = load(make_whole(halo::testing::random_graph(41, 0.15, true, 1)));
  const auto model = make_model("mlp");
  const auto parameters = parameters_of<double>(model);
  const auto h = rows_of<double>(local);
  const auto found = compute<double>(local, "mlp", 2, 1, h, parameters);
  const auto on_two = compute<double>(local, "mlp", 2, 2, h, parameters);
  CHECK(on_two.loss == found.loss);
  CHECK(on_two.dh == found.dh);
  CHECK(on_two.gradient == found.gradient);
  constexpr double kStep = 1e-6;
  const auto slope =
      [&](const std::function<void(std::vector<double>&, std::vector<double>&, double)>& move) {
        double losses[2];
        for (const int side : {0, 1}) {
          auto rows = h;
          auto weights = parameters;
          move(rows, weights, side == 0 ? -kStep : kStep);
          losses[side] = compute<double>(local, "mlp", 2, 1, rows, weights).loss;
        }
        return (losses[1] - losses[0]) / (2 * kStep);
      };
  std::size_t decoder = 0;
  for (std::size_t k = 0; k < parameters.size(); k += k < 40 ? 40 : 3) {
    const double expected = slope([&](auto&, auto& weights, double step) { weights[k] += step; });
    CHECK(found.gradient[k] == doctest::Approx(expected).epsilon(1e-6).scale(1e-3));
    decoder += found.gradient[k] != 0.0 ? 1U : 0U;
  }
  CHECK(decoder > 3);
  for (const NodeId original : {0, 17, 40}) {  // one node, on whatever rank it is
    const auto place = std::ranges::find(local.graph.original_id, original) - local.graph.original_id.begin();
    const bool here = place < local.graph.owned;
    const double expected = slope([&](auto& rows, auto&, double step) {
      if (here) rows[at(place * kCols + 2)] += step;
    });
    if (here) {
      CHECK(found.dh[at(place * kCols + 2)] == doctest::Approx(expected).epsilon(1e-6).scale(1e-3));
    }
  }
}

TEST_CASE("held-out links are scored as one would by hand") {
  const SmallPartition whole = make_whole(halo::testing::random_graph(41, 0.15, true, 1));
  const LocalPartition local = load(whole);
  const auto h = rows_of<float>(local);
  const auto model = make_model("dot");
  train::LinkPrediction links(world(), local, model, {.hits_k = {1, 5, 1000}}, 2);
  const auto scoring = links.evaluate(MatrixView<const float>(h.data(), local.graph.owned, kCols),
                                      parameters_of<float>(model));
  REQUIRE(scoring.metrics.size() == 5);
  for (std::size_t set = 0; set < 2; ++set) {
    std::vector<float> positives, negatives;
    double loss = 0.0, reciprocal = 0.0, above = 0.0;
    for (const auto& row : whole.links[set]) {
      const auto score = [&](std::int64_t node) {
        const auto x = row_of<float>(40 - row[1]), y = row_of<float>(40 - node);
        float sum = 0.0F;
        for (std::size_t c = 0; c < x.size(); ++c) sum += x[c] * y[c];
        return sum;
      };
      positives.push_back(score(row[2]));
      loss += std::log1p(std::exp(-static_cast<double>(positives.back())));
      double place = 1.0;
      for (std::size_t k = 3; k < 6; ++k) {
        negatives.push_back(score(row[k]));
        loss += std::log1p(std::exp(static_cast<double>(negatives.back())));
        if (negatives.back() > positives.back()) place += 1.0;
        if (negatives.back() == positives.back()) place += 0.5;
      }
      reciprocal += 1.0 / place;
    }
    for (const float p : positives) {
      for (const float n : negatives) above += p > n ? 1.0 : p == n ? 0.5 : 0.0;
    }
    std::ranges::sort(negatives, std::greater<>());
    const auto hits = [&](std::size_t k) {
      return static_cast<double>(
                 std::ranges::count_if(positives, [&](float p) { return p > negatives[k - 1]; })) /
             41.0;
    };
    CHECK(scoring.loss[set + 1] == doctest::Approx(loss / (4 * 41)));
    CHECK(scoring.metrics[0].value[set + 1] == doctest::Approx(above / (41.0 * 123.0)));
    CHECK(scoring.metrics[1].value[set + 1] == doctest::Approx(reciprocal / 41.0));
    CHECK(scoring.metrics[2].value[set + 1] == hits(1));
    CHECK(scoring.metrics[3].value[set + 1] == hits(5));
    CHECK(scoring.metrics[4].value[set + 1] == 1.0);
  }
  const halo::testing::SharedFolder folder;
  links.write_scores(folder.path());
  const auto scores = halo::datasets::read_npy<float>(folder.path() / "test_link_scores.npy");
  REQUIRE(scores.size() == 41 * 4);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto& row = whole.links[1][i / 4];
    const auto x = row_of<float>(40 - row[1]), y = row_of<float>(40 - row[2 + i % 4]);
    float sum = 0.0F;
    for (std::size_t c = 0; c < x.size(); ++c) sum += x[c] * y[c];
    CHECK(scores[at(4 * row[0]) + i % 4] == sum);
  }
  CHECK(std::isnan(scoring.loss[0]));
  CHECK(scoring.metrics[3].name == "hits@5");
}

TEST_CASE("each metric stands in its place, in whatever order they are asked for") {
  const LocalPartition local = load(make_whole(halo::testing::random_graph(41, 0.15, true, 1)));
  const auto h = rows_of<float>(local);
  const auto model = make_model("dot");
  const auto evaluate = [&](const std::vector<std::string>& metrics) {
    train::LinkPrediction links(world(), local, model, {.metrics = metrics}, 1);
    return links.evaluate(MatrixView<const float>(h.data(), local.graph.owned, kCols),
                          parameters_of<float>(model));
  };
  const std::vector<std::string> names = {"hits@5", "mrr", "hits@50", "roc_auc", "hits@1"};
  const auto together = evaluate(names);
  REQUIRE(together.metrics.size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto alone = evaluate({names[i]});
    CHECK(together.metrics[i].name == names[i]);
    CHECK(together.metrics[i].value[1] == alone.metrics[0].value[1]);
    CHECK(together.metrics[i].value[2] == alone.metrics[0].value[2]);
  }
}

TEST_CASE("the mean loss is a number as long as it is below 2^32, however large the loss of a part") {
  const SmallPartition whole = make_whole(halo::testing::random_graph(41, 0.15, true, 1));
  const LocalPartition local = load(whole);
  constexpr float kScale = 0x1.0p15F;  // of a row: every score is 2^30 times what it was
  auto h = rows_of<float>(local);
  for (float& value : h) value *= kScale;
  const auto model = make_model("dot");
  train::LinkPrediction links(world(), local, model, {}, 2);
  const auto scoring = links.evaluate(MatrixView<const float>(h.data(), local.graph.owned, kCols),
                                      parameters_of<float>(model));
  for (std::size_t set = 0; set < 2; ++set) {
    double loss = 0.0, largest_part = 0.0;
    for (std::size_t part = 0; part < 6; ++part) {
      double of_part = 0.0;
      for (std::int64_t link = whole.link_offsets[set][part]; link < whole.link_offsets[set][part + 1];
           ++link) {
        const auto& row = whole.links[set][at(link)];
        for (std::size_t k = 2; k < 6; ++k) {
          const auto x = row_of<float>(40 - row[1]), y = row_of<float>(40 - row[k]);
          double score = 0.0;
          for (std::size_t c = 0; c < x.size(); ++c)
            score += static_cast<double>(kScale * x[c]) * static_cast<double>(kScale * y[c]);
          of_part += std::max(k == 2 ? -score : score, 0.0);
        }
      }
      loss += of_part;
      largest_part = std::max(largest_part, of_part);
    }
    REQUIRE(largest_part > halo::kExactLimit);
    REQUIRE(loss / (4 * 41) < halo::kExactLimit);
    CHECK(scoring.loss[set + 1] == doctest::Approx(loss / (4 * 41)));
  }
}

TEST_CASE("a graph without pairs is scored where nothing is to be trained") {
  const LocalPartition local = load(make_whole(halo::testing::without_edges(7)));
  const auto h = rows_of<float>(local);
  const auto model = make_model("dot");
  train::LinkPrediction links(world(), local, model, {}, 1, /*with_loss=*/false);
  CHECK(links.row_loss() == nullptr);
  const auto scoring = links.evaluate(MatrixView<const float>(h.data(), local.graph.owned, kCols),
                                      parameters_of<float>(model));
  CHECK(std::isfinite(scoring.loss[1]));
  CHECK(std::isfinite(scoring.loss[2]));
}

TEST_CASE("options out of range are refused") {
  train::check_link_options({.metrics = {"hits@7", "mrr"}});
  CHECK_THROWS_AS(train::check_link_options({.negatives = 0}), halo::InputError);
  CHECK_THROWS_AS(train::check_link_options({.hits_k = {0}}), halo::InputError);
  for (const char* metric : {"accuracy", "hits@", "hits@0", "hits@5x", "hits@-3"})
    CHECK_THROWS_AS(train::check_link_options({.metrics = {metric}}), halo::InputError);
  CHECK_THROWS_AS(train::check_link_options({.metrics = {"mrr", "mrr"}}), halo::InputError);
}
