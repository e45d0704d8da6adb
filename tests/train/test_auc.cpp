#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "halo/base/counter_rng.hpp"
#include "halo/train/auc.hpp"
#include "support/mpi_world.hpp"

namespace train = halo::train;
using halo::MatrixView;
using halo::testing::world;

namespace {

struct Sample {
  std::vector<float> scores;
  std::vector<std::uint8_t> positive;
};

/// What every pair says, one by one.
double slow_auc(const Sample& sample) {
  double won = 0.0;
  double pairs = 0.0;
  for (std::size_t p = 0; p < sample.scores.size(); ++p) {
    for (std::size_t n = 0; n < sample.scores.size(); ++n) {
      if (sample.positive[p] == 0 || sample.positive[n] != 0) continue;
      pairs += 1.0;
      if (sample.scores[p] > sample.scores[n]) won += 1.0;
      if (sample.scores[p] == sample.scores[n]) won += 0.5;
    }
  }
  return won / pairs;
}

/// This rank's share of a sample that all ranks know: those that `owner` gives it.
template <typename Owner>
double auc_of(const Sample& sample, const Owner& owner) {
  Sample own;
  for (std::size_t i = 0; i < sample.scores.size(); ++i) {
    if (static_cast<int>(owner(i)) != world().rank()) continue;
    own.scores.push_back(sample.scores[i]);
    own.positive.push_back(sample.positive[i]);
  }
  return train::exact_auc(world(), own.scores, own.positive);
}

double auc_of(const Sample& sample) {
  return auc_of(sample, [](std::size_t i) { return i % static_cast<std::size_t>(world().size()); });
}

/// `values` distinct scores about 0, every third sample or so positive and a little higher.
Sample random_sample(std::size_t size, double values, std::uint64_t seed) {
  const halo::CounterRng rng(seed, 0, 0);
  Sample sample;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t key = rng.row_key(static_cast<halo::NodeId>(i));
    const double u = static_cast<double>(halo::CounterRng::column_bits(key, 0)) * 0x1.0p-32;
    sample.positive.push_back(halo::CounterRng::column_bits(key, 1) % 3 == 0 ? 1 : 0);
    sample.scores.push_back(
        static_cast<float>((std::floor(u * values) - 0.5 * values + sample.positive.back()) * 0.125));
  }
  return sample;
}

}  // namespace

TEST_CASE("the area under the curve, by hand") {
  CHECK(auc_of({{0.1F, 0.4F, 0.35F, 0.8F}, {0, 0, 1, 1}}) == 0.75);
  CHECK(auc_of({{1.0F, 2.0F, 3.0F, 4.0F}, {0, 0, 1, 1}}) == 1.0);
  CHECK(auc_of({{1.0F, 2.0F, 3.0F, 4.0F}, {1, 1, 0, 0}}) == 0.0);
  CHECK(auc_of({{7.0F, 7.0F, 7.0F}, {1, 0, 0}}) == 0.5);
  CHECK(auc_of({{-0.0F, 0.0F}, {1, 0}}) == 0.5);
  CHECK(auc_of({{-1.0F, -2.0F, 0.5F}, {1, 0, 0}}) == 0.5);
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(auc_of({{infinity, -infinity, 1e30F, -1e30F}, {1, 0, 1, 0}}) == 1.0);
}

TEST_CASE("every pair, ties or none, is counted once on any number of ranks") {
  for (const double values : {3.0, 40.0, 1e6}) {
    for (const std::size_t size : {2U, 5U, 50U, 600U}) {
      CAPTURE(values);
      CAPTURE(size);
      Sample sample = random_sample(size, values, 7 + size);
      sample.positive[0] = 1;
      sample.positive[1] = 0;
      CHECK(auc_of(sample) == doctest::Approx(slow_auc(sample)).epsilon(1e-14));
    }
  }
}

TEST_CASE("who owns which score does not change a bit") {
  const Sample sample = random_sample(500, 60.0, 3);
  const double dealt = auc_of(sample);
  const auto ranks = static_cast<std::size_t>(world().size());
  CHECK(auc_of(sample, [](std::size_t) { return 0; }) == dealt);
  CHECK(auc_of(sample, [&](std::size_t) { return ranks - 1; }) == dealt);
  CHECK(auc_of(sample, [&](std::size_t i) { return i * ranks / 500; }) == dealt);
}

TEST_CASE("scores that crowd into a hair's breadth, one far away") {
  Sample sample;
  float score = 1.0F;
  for (std::size_t i = 0; i < 300; ++i) {
    sample.scores.push_back(score);
    sample.positive.push_back(i % 7 < 3 ? 1 : 0);
    if (i % 2 == 0) score = std::nextafter(score, 2.0F);
  }
  sample.scores.push_back(-1e30F);
  sample.positive.push_back(1);
  CHECK(auc_of(sample) == doctest::Approx(slow_auc(sample)).epsilon(1e-14));
}

TEST_CASE("without positives or negatives there is no area") {
  CHECK(std::isnan(auc_of({{1.0F, 2.0F}, {1, 1}})));
  CHECK(std::isnan(auc_of({{1.0F, 2.0F}, {0, 0}})));
  CHECK(std::isnan(auc_of({})));
}

TEST_CASE("a score that is not a number is the same error on every rank") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH_AS(auc_of({{1.0F, nan, 0.0F}, {1, 0, 0}}), doctest::Contains("not numbers"), halo::Error);
}

TEST_CASE("the mean over columns leaves out those with one class and the rows that do not count") {
  // Column 0: 0.75 over the rows that count; column 1 has no positive there; column 2: 0.5.
  const std::vector<float> scores = {0.1F,  5.0F, 1.0F,  //
                                     0.4F,  4.0F, 1.0F,  //
                                     0.35F, 3.0F, 1.0F,  //
                                     0.8F,  2.0F, 1.0F,  //
                                     9.0F,  1.0F, std::numeric_limits<float>::quiet_NaN()};
  const std::vector<std::uint8_t> positive = {0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 1};
  const std::vector<std::uint8_t> use = {1, 1, 1, 1, 0};
  const bool owns = world().rank() == world().size() - 1;  // the others have no rows
  const std::int64_t rows = owns ? 5 : 0;
  const MatrixView<const float> own_scores(scores.data(), rows, 3);
  const MatrixView<const std::uint8_t> own_positive(positive.data(), rows, 3);
  const auto own_use = std::span(use).first(static_cast<std::size_t>(rows));
  CHECK(train::mean_column_auc(world(), own_scores, own_positive, own_use) == (0.75 + 0.5) / 2);
  const std::vector<std::uint8_t> none(static_cast<std::size_t>(rows), 0);
  CHECK(std::isnan(train::mean_column_auc(world(), own_scores, own_positive, none)));
  const std::vector<std::uint8_t> all(static_cast<std::size_t>(rows), 1);
  CHECK_THROWS_AS(train::mean_column_auc(world(), own_scores, own_positive, all), halo::Error);
}
