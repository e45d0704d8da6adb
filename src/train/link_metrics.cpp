#include "halo/train/link_metrics.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "halo/base/ids.hpp"
#include "halo/mpi/exchange.hpp"
#include "not_numbers.hpp"

namespace halo::train {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Collective. Comparisons with NaN are all false: it would lose to nobody, and cannot be sorted.
void check_numbers(const mpi::Communicator& communicator, const std::string& figure,
                   std::span<const float> positives, std::span<const float> negatives) {
  std::int64_t not_numbers[] = {count_not_numbers(positives) + count_not_numbers(negatives)};
  communicator.sum(std::span<std::int64_t>(not_numbers));
  check_not_nan(figure, not_numbers[0]);
}

/// Collective. The best `count` of the scores of all ranks, best first; fewer if there are not so many.
std::vector<float> best_scores(const mpi::Communicator& communicator, std::span<const float> scores,
                               std::int64_t count) {
  std::vector<float> own(scores.begin(), scores.end());
  const auto kept = std::min<std::int64_t>(count, std::ssize(own));
  std::partial_sort(own.begin(), own.begin() + kept, own.end(), std::greater<>());
  std::vector<std::int64_t> bits;
  for (std::int64_t i = 0; i < kept; ++i) bits.push_back(std::bit_cast<std::int32_t>(own[at(i)]));
  const auto received =
      mpi::send_to_ranks(communicator, std::vector<std::vector<std::int64_t>>(at(communicator.size()), bits));
  std::vector<float> best;
  for (const std::int64_t value : received.values)
    best.push_back(std::bit_cast<float>(static_cast<std::int32_t>(value)));
  std::ranges::sort(best, std::greater<>());
  best.resize(std::min(best.size(), at(count)));
  return best;
}

}  // namespace

double mean_reciprocal_rank(const mpi::Communicator& communicator, std::span<const float> positives,
                            std::span<const float> negatives, std::int64_t negatives_each) {
  check_numbers(communicator, "mean reciprocal rank", positives, negatives);
  // counts[b + w]: b negatives score higher, w at least as high; the rank is (b + w) / 2 + 1.
  std::vector<std::int64_t> counts(at(2 * negatives_each) + 1);
  for (std::size_t i = 0; i < positives.size(); ++i) {
    std::size_t places = 0;
    for (const float negative : negatives.subspan(i * at(negatives_each), at(negatives_each)))
      places += (negative > positives[i] ? 1U : 0U) + (negative >= positives[i] ? 1U : 0U);
    ++counts[places];
  }
  communicator.sum(std::span<std::int64_t>(counts));
  double sum = 0.0;
  std::int64_t all = 0;
  for (std::size_t places = 0; places < counts.size(); ++places) {
    sum += static_cast<double>(counts[places]) * (2.0 / (static_cast<double>(places) + 2.0));
    all += counts[places];
  }
  return all == 0 ? kNan : sum / static_cast<double>(all);
}

std::vector<double> hits_at(const mpi::Communicator& communicator, std::span<const float> positives,
                            std::span<const float> negatives, std::span<const std::int64_t> ks) {
  check_numbers(communicator, "share of hits", positives, negatives);
  const std::int64_t largest = ks.empty() ? 0 : *std::ranges::max_element(ks);
  const std::vector<float> best = best_scores(communicator, negatives, largest);
  std::vector<std::int64_t> counts;  // hits for each K, then all positives
  for (const std::int64_t k : ks) {
    counts.push_back(std::ranges::count_if(
        positives, [&](float score) { return std::ssize(best) < k || score > best[at(k - 1)]; }));
  }
  counts.push_back(std::ssize(positives));
  communicator.sum(std::span<std::int64_t>(counts));
  std::vector<double> shares;
  for (std::size_t i = 0; i < ks.size(); ++i)
    shares.push_back(
        counts.back() == 0 ? kNan : static_cast<double>(counts[i]) / static_cast<double>(counts.back()));
  return shares;
}

}  // namespace halo::train
