#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "halo/datasets/dataset_info.hpp"
#include "halo/datasets/generate.hpp"
#include "temporary_folder.hpp"

namespace halo::datasets {
namespace {

std::vector<float> features_of(const Dataset& dataset) {
  std::vector<float> values(static_cast<std::size_t>(dataset.num_nodes * dataset.feature_cols()));
  if (dataset.features) dataset.features->read_rows(RowRange{0, dataset.num_nodes}, values);
  return values;
}

void check_same(const Dataset& a, const Dataset& b) {
  CHECK(a.sources == b.sources);
  CHECK(a.targets == b.targets);
  CHECK(a.labels == b.labels);
  CHECK(a.split == b.split);
  CHECK(features_of(a) == features_of(b));
}

/// What every generated graph promises: sorted, no loops, no duplicates, and both directions unless directed.
void check_edges(const Dataset& dataset, bool symmetric) {
  std::set<std::pair<NodeId, NodeId>> seen;
  bool sorted = true;
  for (std::size_t e = 0; e < dataset.sources.size(); ++e) {
    const std::pair edge{dataset.sources[e], dataset.targets[e]};
    sorted = sorted && (seen.empty() || *seen.rbegin() < edge);
    seen.insert(edge);
  }
  CHECK(sorted);
  CHECK(seen.size() == dataset.sources.size());
  const DatasetInfo info = describe(dataset);
  CHECK(info.loops == 0);
  CHECK(info.duplicates == 0);
  CHECK(info.symmetric == symmetric);
  CHECK(dataset.declared_directed == !symmetric);
}

/// Accuracy of the nearest class mean on the test nodes; the means are those of the train nodes. A stand-in
/// for a trained model.
double nearest_mean_accuracy(const Dataset& dataset, const std::vector<float>& rows) {
  const auto width = static_cast<std::size_t>(dataset.feature_cols());
  const auto classes = static_cast<std::size_t>(dataset.num_classes);
  std::vector<double> means(classes * width, 0.0), counts(classes, 0.0);
  const auto for_nodes = [&](Split split, const auto& body) {
    for (std::size_t node = 0; node < dataset.split.size(); ++node) {
      if (dataset.split[node] == split) body(node, static_cast<std::size_t>(dataset.labels[node]));
    }
  };
  for_nodes(Split::kTrain, [&](std::size_t node, std::size_t label) {
    counts[label] += 1;
    for (std::size_t c = 0; c < width; ++c)
      means[label * width + c] += static_cast<double>(rows[node * width + c]);
  });
  for (std::size_t i = 0; i < means.size(); ++i) means[i] /= std::max(counts[i / width], 1.0);
  double right = 0, all = 0;
  for_nodes(Split::kTest, [&](std::size_t node, std::size_t label) {
    std::vector<double> distances(classes, 0.0);
    for (std::size_t i = 0; i < means.size(); ++i) {
      distances[i / width] += std::pow(static_cast<double>(rows[node * width + i % width]) - means[i], 2);
    }
    const auto best = std::min_element(distances.begin(), distances.end()) - distances.begin();
    right += static_cast<std::size_t>(best) == label ? 1 : 0;
    all += 1;
  });
  return right / all;
}

/// Mean over a node and its in-neighbours, twice.
std::vector<float> smooth_twice(const Dataset& dataset) {
  const auto width = static_cast<std::size_t>(dataset.feature_cols());
  std::vector<float> rows = features_of(dataset);
  for (int step = 0; step < 2; ++step) {
    std::vector<float> sums = rows;
    std::vector<float> counts(static_cast<std::size_t>(dataset.num_nodes), 1.0F);
    for (std::size_t e = 0; e < dataset.sources.size(); ++e) {
      const auto from = static_cast<std::size_t>(dataset.sources[e]),
                 to = static_cast<std::size_t>(dataset.targets[e]);
      counts[to] += 1;
      for (std::size_t c = 0; c < width; ++c) sums[to * width + c] += rows[from * width + c];
    }
    for (std::size_t i = 0; i < sums.size(); ++i) rows[i] = sums[i] / counts[i / width];
  }
  return rows;
}

}  // namespace

TEST_CASE("the karate club is Zachary's") {
  const Dataset club = generate_karate();
  check_edges(club, true);
  CHECK(club.num_edges() == 156);
  std::vector<int> degrees(34, 0);
  for (const NodeId target : club.targets) ++degrees[static_cast<std::size_t>(target)];
  CHECK(degrees == std::vector<int>{16, 9, 10, 6, 3, 4, 4, 4, 5, 2, 3, 1, 2, 5, 2, 2,  2,
                                    2,  2, 3,  2, 2, 2, 5, 3, 3, 2, 4, 3, 4, 4, 6, 12, 17});
  CHECK(std::count(club.labels.begin(), club.labels.end(), 0) == 17);
  CHECK(club.labels[0] == 0);
  CHECK(club.labels[8] == 0);
  CHECK(club.labels[33] == 1);
  std::vector<float> row(34);
  club.features->read_rows(RowRange{5, 6}, row);
  CHECK(std::count(row.begin(), row.end(), 0.0F) == 33);
  CHECK(row[5] == 1.0F);
}

TEST_CASE("a grid by hand") {
  GridOptions options;
  options.rows = 2;
  options.cols = 3;
  options.planted.split = {1, 1, 1};
  const Dataset grid = generate_grid(options);
  // 0 1 2
  // 3 4 5
  CHECK(grid.sources == std::vector<NodeId>{0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5});
  CHECK(grid.targets == std::vector<NodeId>{1, 3, 0, 2, 4, 1, 5, 0, 4, 1, 3, 5, 2, 4});
  CHECK(grid.labels == std::vector<std::int32_t>{0, 0, 1, 2, 2, 3});
  options.rows = options.cols = 1;
  options.planted.split = {1, 0, 0};
  CHECK(generate_grid(options).num_edges() == 0);
}

TEST_CASE("a star by hand") {
  StarOptions options;
  options.nodes = 4;
  options.planted.features = 0;
  const Dataset star = generate_star(options);
  CHECK(star.sources == std::vector<NodeId>{0, 0, 0, 1, 2, 3});
  CHECK(star.targets == std::vector<NodeId>{1, 2, 3, 0, 0, 0});
  CHECK(star.labels == std::vector<std::int32_t>{0, 1, 1, 1});
  CHECK(star.features == nullptr);
}

TEST_CASE("a block model keeps its promises") {
  SbmOptions options;
  options.nodes = 6000;
  options.planted.seed = 7;
  for (const bool directed : {false, true}) {
    options.directed = directed;
    const Dataset dataset = generate_sbm(options);
    check_edges(dataset, !directed);
    const DatasetInfo info = describe(dataset);
    // 30,000 draws: four standard deviations of each estimate, and the few duplicates.
    CHECK(std::abs(info.homophily - 0.8) < 0.012);
    CHECK(std::abs(info.degree_mean - 10.0) < 0.3);
    for (std::int32_t label = 0; label < 5; ++label) {
      CHECK(std::count(dataset.labels.begin(), dataset.labels.end(), label) == 1200);
    }
    CHECK(info.train == 600);
    CHECK(info.val == 1200);
    CHECK(info.test == 4200);
  }
}

TEST_CASE("communities divide the classes and hold the edges that stay") {
  SbmOptions options;
  options.nodes = 600;
  options.classes = 2;
  options.communities = 60;  // of ten nodes
  options.homophily = 1.0;
  options.degree = 6;
  const Dataset dataset = generate_sbm(options);
  check_edges(dataset, true);
  // Nodes reached from node 0 cannot leave its community.
  std::set<NodeId> reached{0};
  for (int round = 0; round < 10; ++round) {
    for (std::size_t e = 0; e < dataset.sources.size(); ++e) {
      if (reached.count(dataset.sources[e]) != 0) reached.insert(dataset.targets[e]);
    }
  }
  CHECK(reached.size() > 5);
  CHECK(reached.size() <= 10);
  CHECK(describe(dataset).homophily == 1.0);
}

TEST_CASE("with the defaults the graph tells more than the features") {
  const Dataset dataset = generate_sbm({});
  const double alone = nearest_mean_accuracy(dataset, features_of(dataset));
  const double smoothed = nearest_mean_accuracy(dataset, smooth_twice(dataset));
  CHECK(alone > 0.25);
  CHECK(alone < 0.6);
  CHECK(smoothed > 0.85);
}

TEST_CASE("planted features have the asked mean length and unit noise") {
  SbmOptions options;
  options.nodes = 20000;
  options.classes = 1;
  options.homophily = 1.0;
  options.degree = 0;
  options.planted.features = 8;
  options.planted.signal = 3.0;
  const Dataset dataset = generate_sbm(options);
  const std::vector<float> rows = features_of(dataset);
  double squared_length = 0;
  for (std::size_t c = 0; c < 8; ++c) {
    double sum = 0, squares = 0;
    for (std::size_t node = 0; node < 20000; ++node) {
      const auto value = static_cast<double>(rows[node * 8 + c]);
      sum += value;
      squares += value * value;
    }
    const double mean = sum / 20000;
    squared_length += mean * mean;
    CHECK(std::abs(squares / 20000 - mean * mean - 1.0) < 0.05);
  }
  CHECK(std::abs(std::sqrt(squared_length) - 3.0) < 0.05);
}

TEST_CASE("R-MAT graphs are skewed and clean") {
  RmatOptions options;
  options.scale = 10;
  options.edge_factor = 8;
  const Dataset dataset = generate_rmat(options);
  check_edges(dataset, true);
  const DatasetInfo info = describe(dataset);
  CHECK(info.nodes == 1024);
  CHECK(info.edges < 2 * 8 * 1024);
  CHECK(info.edges > 8 * 1024);
  CHECK(info.degree_max > 8 * info.degree_mean);
  options.scale = 0;
  options.classes = 1;
  options.planted.split = {0, 0, 0};
  CHECK(generate_rmat(options).num_edges() == 0);
}

TEST_CASE("the seed decides everything, the threads nothing") {
  SbmOptions sbm;
  sbm.nodes = 20000;  // several pieces of work
  sbm.planted.features = 3;
  RmatOptions rmat;
  rmat.scale = 13;
  rmat.planted.features = 3;
  const Dataset sbm_one = generate_sbm(sbm), rmat_one = generate_rmat(rmat);
  for (const int threads : {2, 3}) {
    sbm.planted.threads = rmat.planted.threads = threads;
    check_same(generate_sbm(sbm), sbm_one);
    check_same(generate_rmat(rmat), rmat_one);
  }
  sbm.planted.seed = rmat.planted.seed = 1;
  CHECK(generate_sbm(sbm).sources != sbm_one.sources);
  CHECK(generate_sbm(sbm).split != sbm_one.split);
  CHECK(features_of(generate_sbm(sbm)) != features_of(sbm_one));
  CHECK(generate_rmat(rmat).sources != rmat_one.sources);
}

TEST_CASE("split sizes are fractions or counts") {
  StarOptions options;
  options.nodes = 10;
  const auto sizes = [&](double train, double val, double test) {
    options.planted.split = {train, val, test};
    const DatasetInfo info = describe(generate_star(options));
    return std::vector<NodeId>{info.train, info.val, info.test};
  };
  CHECK(sizes(3, 0.2, 0.5) == std::vector<NodeId>{3, 2, 5});
  CHECK(sizes(0.35, 0.35, 0.3) == std::vector<NodeId>{4, 4, 2});  // rounding does not make nodes
  CHECK(sizes(1, 9, 0) == std::vector<NodeId>{1, 9, 0});
  for (const auto& bad : {SplitSizes{5, 5, 1}, SplitSizes{-1, 0, 0}, SplitSizes{1.5, 0, 0},
                          SplitSizes{0.9, 0.9, 0}, SplitSizes{std::nan(""), 0, 0}}) {
    CHECK_FALSE(input_error_of([&] { sizes(bad.train, bad.val, bad.test); }).empty());
  }
}

TEST_CASE("options out of range are refused by name") {
  const auto sbm_error = [](auto change) {
    SbmOptions options;
    change(options);
    return input_error_of([&] { generate_sbm(options); });
  };
  CHECK(contains(sbm_error([](auto& o) { o.nodes = 0; }), "--nodes"));
  CHECK(contains(sbm_error([](auto& o) { o.nodes = std::int64_t{1} << 31; }), "--nodes"));
  CHECK(contains(sbm_error([](auto& o) { o.classes = 0; }), "--classes"));
  CHECK(contains(sbm_error([](auto& o) { o.classes = 2001; }), "--classes"));
  CHECK(contains(sbm_error([](auto& o) { o.communities = 7; }), "--communities"));
  CHECK(contains(sbm_error([](auto& o) { o.degree = 2000; }), "--degree"));
  CHECK(contains(sbm_error([](auto& o) { o.homophily = 1.5; }), "--homophily"));
  CHECK(contains(sbm_error([](auto& o) { o.classes = 1; }), "--homophily"));
  CHECK(contains(sbm_error([](auto& o) { o.planted.features = -1; }), "--features"));
  CHECK(contains(sbm_error([](auto& o) { o.planted.signal = -1; }), "--signal"));
  RmatOptions rmat;
  rmat.scale = 31;
  CHECK(contains(input_error_of([&] { generate_rmat(rmat); }), "--scale"));
  GridOptions grid;
  grid.rows = grid.cols = 1 << 16;
  CHECK(contains(input_error_of([&] { generate_grid(grid); }), "--rows x --cols"));
}

TEST_CASE("a block model plants several labels, or targets, for each node") {
  SbmOptions options;
  options.nodes = 3000;
  options.classes = 4;
  const Dataset classes = generate_sbm(options);
  options.task = kMultiLabel;
  const Dataset labels = generate_sbm(options);
  CHECK(labels.sources == classes.sources);
  CHECK(features_of(labels) == features_of(classes));
  CHECK(labels.labels.empty());
  CHECK(describe(labels).labelled == 3000);
  options.task = kNodeRegression;
  const Dataset targets = generate_sbm(options);
  CHECK(targets.num_classes == 2);
  CHECK(targets.sources == classes.sources);
  int further = 0;
  double deviation = 0;
  for (std::size_t node = 0; node < 3000; ++node) {
    const auto own = static_cast<std::size_t>(classes.labels[node]);
    CHECK(labels.multi_labels[4 * node + own] == 1);
    CHECK(labels.multi_labels[4 * node + (own + 1) % 4] == 1);
    further += labels.multi_labels[4 * node + (own + 2) % 4] + labels.multi_labels[4 * node + (own + 3) % 4];
    const double sine = std::array{0.0, 1.0, 0.0, -1.0}[own];
    deviation += std::pow(static_cast<double>(targets.values[2 * node]) - sine, 2);
  }
  CHECK(further > 60);  // of 6000, with probability 0.02: 120 expected
  CHECK(further < 180);
  CHECK(std::sqrt(deviation / 3000) == doctest::Approx(0.1).epsilon(0.1));
  options.task = "link_prediction";
  CHECK(contains(input_error_of([&] { generate_sbm(options); }), "--task"));
}

}  // namespace halo::datasets
