#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "halo/base/error.hpp"
#include "halo/train/feature_scaling.hpp"
#include "support/mpi_world.hpp"

namespace train = halo::train;
namespace graph = halo::graph;
using halo::at;
using halo::MatrixView;
using halo::testing::world;

namespace {

constexpr std::int64_t kNodes = 48;
constexpr std::int64_t kRowsOfGroup = 4;
constexpr std::int64_t kCols = 5;

/// Columns: many scales of noise; one value; two values; all zero; large and nearly equal.
std::vector<float> whole_matrix() {
  std::vector<float> x;
  for (std::int64_t i = 0; i < kNodes; ++i) {
    const auto noise = static_cast<float>(std::sin(static_cast<double>(i * i)));
    x.insert(x.end(), {noise * 1e-3F, 0.1F, i < kNodes / 2 ? -3.0F : 5.0F, 0.0F, 3e12F + 1e9F * noise});
  }
  return x;
}

/// The groups that rank `rank` of `ranks` owns: contiguous, some ranks none where there are many.
graph::LocalGraph share_of(int rank, int ranks) {
  const std::int64_t groups = kNodes / kRowsOfGroup;
  graph::LocalGraph local;
  local.global_nodes = kNodes;
  local.first_node = groups * rank / ranks * kRowsOfGroup;
  const std::int64_t end = groups * (rank + 1) / ranks * kRowsOfGroup;
  local.owned = static_cast<halo::LocalId>(end - local.first_node);
  for (std::int32_t tile = 0; tile < local.owned / 2; ++tile) {
    local.tiles.push_back({.rows = {2 * tile, 2 * tile + 2}});
    if (tile % 2 == 0) local.groups.push_back({.first_tile = tile, .last_tile = tile + 2});
  }
  return local;
}

/// The rows of `local`, scaled by all ranks.
std::vector<float> scaled(const graph::LocalGraph& local, train::FeatureScaling scaling) {
  const auto whole = whole_matrix();
  std::vector<float> own(whole.begin() + local.first_node * kCols,
                         whole.begin() + (local.first_node + local.owned) * kCols);
  train::scale_features(world(), local, scaling, MatrixView<float>(own.data(), local.owned, kCols));
  return own;
}

graph::LocalGraph own_share() {
  return share_of(world().rank(), world().size());
}

/// The two passes of a textbook.
std::vector<double> slow_standardised(const std::vector<float>& x, std::int64_t col) {
  double mean = 0.0;
  for (std::int64_t i = 0; i < kNodes; ++i) mean += static_cast<double>(x[at(i * kCols + col)]);
  mean /= kNodes;
  double variance = 0.0;
  for (std::int64_t i = 0; i < kNodes; ++i) {
    const double deviation = static_cast<double>(x[at(i * kCols + col)]) - mean;
    variance += deviation * deviation / kNodes;
  }
  std::vector<double> result;
  for (std::int64_t i = 0; i < kNodes; ++i) {
    result.push_back((static_cast<double>(x[at(i * kCols + col)]) - mean) / std::sqrt(variance));
  }
  return result;
}

}  // namespace

TEST_CASE("columns get mean 0 and deviation 1 over all ranks, constant ones become zeros") {
  const auto own = scaled(own_share(), train::FeatureScaling::kStandardise);
  const std::int64_t first = own_share().first_node;
  for (const std::int64_t col : {0, 4}) {
    const auto expected = slow_standardised(whole_matrix(), col);
    for (std::size_t i = 0; i < own.size() / kCols; ++i) {
      CHECK(static_cast<double>(own[i * kCols + at(col)]) ==
            doctest::Approx(expected[at(first) + i]).epsilon(1e-6));
    }
  }
  for (std::size_t i = 0; i < own.size() / kCols; ++i) {
    CHECK(own[i * kCols + 1] == 0.0F);
    CHECK(own[i * kCols + 2] == (at(first) + i < kNodes / 2 ? -1.0F : 1.0F));
    CHECK(own[i * kCols + 3] == 0.0F);
  }
}

TEST_CASE("standardised features have the same bits where one rank owns all nodes") {
  const auto own = scaled(own_share(), train::FeatureScaling::kStandardise);
  graph::LocalGraph all_or_nothing;
  all_or_nothing.global_nodes = kNodes;
  if (world().rank() == 0) all_or_nothing = share_of(0, 1);
  auto whole = scaled(all_or_nothing, train::FeatureScaling::kStandardise);
  whole.resize(at(kNodes * kCols));
  world().broadcast(std::as_writable_bytes(std::span(whole)), 0);
  CHECK(std::memcmp(own.data(), whole.data() + own_share().first_node * kCols, own.size() * sizeof(float)) ==
        0);
}

TEST_CASE("rows are divided by their sum of absolute values or their length; zero rows stay") {
  std::vector<float> x = {3.0F, -4.0F, 0.0F, 0.0F};
  graph::LocalGraph local;
  local.owned = 2;
  train::scale_features(world(), local, train::FeatureScaling::kNone, MatrixView<float>(x.data(), 2, 2));
  CHECK(x == std::vector<float>{3.0F, -4.0F, 0.0F, 0.0F});
  train::scale_features(world(), local, train::FeatureScaling::kRowsL2, MatrixView<float>(x.data(), 2, 2));
  CHECK(x[0] == doctest::Approx(0.6F));
  CHECK(x[1] == doctest::Approx(-0.8F));
  CHECK(x[2] == 0.0F);
  x = {3.0F, -5.0F, 0.0F, 0.0F};
  train::scale_features(world(), local, train::FeatureScaling::kRowsL1, MatrixView<float>(x.data(), 2, 2));
  CHECK(x == std::vector<float>{0.375F, -0.625F, 0.0F, 0.0F});
}

TEST_CASE("one way of scaling at a time") {
  using train::FeatureScaling;
  CHECK(train::choose_scaling(false, false, false) == FeatureScaling::kNone);
  CHECK(train::choose_scaling(true, false, false) == FeatureScaling::kRowsL1);
  CHECK(train::choose_scaling(false, true, false) == FeatureScaling::kRowsL2);
  CHECK(train::choose_scaling(false, false, true) == FeatureScaling::kStandardise);
  CHECK_THROWS_AS(train::choose_scaling(true, false, true), halo::InputError);
  CHECK_THROWS_AS(train::choose_scaling(true, true, false), halo::InputError);
}
