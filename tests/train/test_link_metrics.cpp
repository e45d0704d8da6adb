#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "halo/train/link_metrics.hpp"
#include "support/mpi_world.hpp"

using halo::testing::world;
namespace train = halo::train;

namespace {

struct Share {
  std::vector<float> positives, negatives;
};

/// Every world().size()-th positive with its negatives.
Share share_of(const std::vector<float>& positives, const std::vector<float>& negatives, std::size_t each) {
  Share share;
  for (std::size_t i = 0; i < positives.size(); ++i) {
    if (static_cast<int>(i % static_cast<std::size_t>(world().size())) != world().rank()) continue;
    share.positives.push_back(positives[i]);
    for (std::size_t k = 0; k < each; ++k) share.negatives.push_back(negatives[i * each + k]);
  }
  return share;
}

}  // namespace

TEST_CASE("reciprocal ranks: the mean of the best and the worst place among ties") {
  // Ranks: 1; 3 (worst); 1.5 (one tie); 2.5 (one above, one tie).
  const Share share = share_of({5, 1, 2, 3}, {4, 3, 2, 2, 2, 1, 3, 7}, 2);
  const double expected = (1.0 + 1.0 / 3.0 + 1.0 / 1.5 + 1.0 / 2.5) / 4.0;
  CHECK(train::mean_reciprocal_rank(world(), share.positives, share.negatives, 2) ==
        doctest::Approx(expected));
  CHECK(std::isnan(train::mean_reciprocal_rank(world(), {}, {}, 2)));
}

TEST_CASE("hits: above the K-th best of all negatives, a tie is no hit") {
  const Share share = share_of({5, 1, 2, -3}, {4, -8, 2, 0}, 1);
  const std::vector<std::int64_t> ks = {1, 2, 3, 4, 5};
  const auto hits = train::hits_at(world(), share.positives, share.negatives, ks);
  CHECK(hits == std::vector<double>{0.25, 0.25, 0.75, 1.0, 1.0});
  CHECK(std::isnan(train::hits_at(world(), {}, {}, ks)[0]));
  const Share low = share_of({-1, -2}, {-1, -3}, 1);
  CHECK(train::hits_at(world(), low.positives, low.negatives, ks)[1] == 1.0);
  CHECK(train::hits_at(world(), low.positives, low.negatives, ks)[0] == 0.0);
}

TEST_CASE("scores that are not numbers are refused on every rank, wherever they stand") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::int64_t> ks = {1, 2};
  for (const Share& share : {share_of({5, nan, 2, 3}, {4, 3, 2, 2, 2, 1, 3, 7}, 2),
                             share_of({5, 1, 2, 3}, {4, 3, 2, nan, 2, 1, 3, 7}, 2)}) {
    const auto refused = [](const auto& figure) {
      try {
        figure();
        FAIL_CHECK("a figure of scores that are not numbers");
      } catch (const halo::Error& error) {
        CHECK(halo::mpi::is_agreed(error));
        CHECK(std::string(error.what()).find(": 1 scores are not numbers") != std::string::npos);
      }
    };
    refused([&] { train::mean_reciprocal_rank(world(), share.positives, share.negatives, 2); });
    refused([&] { train::hits_at(world(), share.positives, share.negatives, ks); });
  }
}
