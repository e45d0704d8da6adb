#include "halo/train/auc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "halo/base/error.hpp"
#include "halo/mpi/exchange.hpp"

namespace halo::train {
namespace {

constexpr std::uint64_t kKeys = std::uint64_t{1} << 32;

/// How many positives and negatives have one score.
struct Count {
  std::uint64_t key = 0;
  std::int64_t positives = 0;
  std::int64_t negatives = 0;
};

/// An integer below kKeys that is ordered as the scores are; both zeros are one.
std::uint64_t key_of(float score) {
  constexpr std::uint32_t kSign = 0x80000000U;
  const auto bits = std::bit_cast<std::uint32_t>(score == 0.0F ? 0.0F : score);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

/// Ascending by key; one entry for each key.
std::vector<Count> count_by_key(std::span<const float> scores, std::span<const std::uint8_t> positive) {
  std::vector<std::uint64_t> words(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    words[i] = key_of(scores[i]) << 1 | static_cast<std::uint64_t>(positive[i] != 0);
  }
  std::sort(words.begin(), words.end());
  std::vector<Count> counts;
  for (const std::uint64_t word : words) {
    if (counts.empty() || counts.back().key != word >> 1) counts.push_back({.key = word >> 1});
    ++((word & 1) != 0 ? counts.back().positives : counts.back().negatives);
  }
  return counts;
}

std::int64_t entries_below(const std::vector<Count>& counts, std::uint64_t key) {
  const auto place = std::lower_bound(counts.begin(), counts.end(), key,
                                      [](const Count& count, std::uint64_t k) { return count.key < k; });
  return place - counts.begin();
}

/// Collective. Keys [result[r], result[r + 1]) belong to rank r, which gets at most its share of all entries
/// and one more from each rank. Each inner boundary is found by bisection.
std::vector<std::uint64_t> cut_keys(const mpi::Communicator& communicator, const std::vector<Count>& counts) {
  const auto ranks = static_cast<std::size_t>(communicator.size());
  std::int64_t total[] = {static_cast<std::int64_t>(counts.size())};
  communicator.sum(std::span<std::int64_t>(total));
  std::vector<std::uint64_t> low(ranks + 1, 0);
  std::vector<std::uint64_t> high(ranks + 1, kKeys);
  high[0] = 0;
  low[ranks] = kKeys;
  std::vector<std::int64_t> below(ranks + 1);
  while (low != high) {  // alike on every rank
    const auto middle = [&](std::size_t r) { return (low[r] + high[r] + 1) / 2; };
    for (std::size_t r = 0; r <= ranks; ++r) below[r] = entries_below(counts, middle(r));
    communicator.sum(std::span<std::int64_t>(below));
    for (std::size_t r = 1; r < ranks; ++r) {
      const std::int64_t share = total[0] / communicator.size() * static_cast<std::int64_t>(r);
      if (low[r] == high[r]) continue;
      if (below[r] <= share) {
        low[r] = middle(r);
      } else {
        high[r] = middle(r) - 1;
      }
    }
  }
  return low;
}

/// Collective. The counts of all ranks for the keys of this one, ascending; a key once for each rank that has
/// it.
std::vector<Count> exchange(const mpi::Communicator& communicator, const std::vector<Count>& counts) {
  const std::vector<std::uint64_t> cuts = cut_keys(communicator, counts);
  std::vector<std::int64_t> offsets;
  for (const std::uint64_t cut : cuts) offsets.push_back(3 * entries_below(counts, cut));
  std::vector<std::int64_t> words;
  words.reserve(3 * counts.size());
  for (const Count& count : counts) {
    words.insert(words.end(), {static_cast<std::int64_t>(count.key), count.positives, count.negatives});
  }
  const mpi::Received received = mpi::all_to_all(communicator, words, offsets);
  std::vector<Count> own;
  own.reserve(received.values.size() / 3);
  for (std::size_t k = 0; k < received.values.size(); k += 3) {
    own.push_back({.key = static_cast<std::uint64_t>(received.values[k]),
                   .positives = received.values[k + 1],
                   .negatives = received.values[k + 2]});
  }
  std::sort(own.begin(), own.end(), [](const Count& a, const Count& b) { return a.key < b.key; });
  return own;
}

/// Twice the number of pairs whose positive is in `counts` and has the higher score, ties counted once;
/// `negatives_below`: with a lower score than all of `counts`.
std::int64_t twice_pairs_won(const std::vector<Count>& counts, std::int64_t negatives_below) {
  std::int64_t twice = 0;
  for (std::size_t first = 0; first < counts.size();) {
    Count all;
    std::size_t next = first;
    for (; next < counts.size() && counts[next].key == counts[first].key; ++next) {
      all.positives += counts[next].positives;
      all.negatives += counts[next].negatives;
    }
    twice += all.positives * (2 * negatives_below + all.negatives);
    negatives_below += all.negatives;
    first = next;
  }
  return twice;
}

/// Collective. `positives`, `negatives`: of all ranks, neither of them 0.
double auc_of(const mpi::Communicator& communicator, std::span<const float> scores,
              std::span<const std::uint8_t> positive, std::int64_t positives, std::int64_t negatives) {
  const std::vector<Count> own = exchange(communicator, count_by_key(scores, positive));
  std::int64_t own_negatives = 0;
  for (const Count& count : own) own_negatives += count.negatives;
  const auto of_ranks = communicator.all_gather(own_negatives);
  std::int64_t below = 0;
  for (int r = 0; r < communicator.rank(); ++r) below += of_ranks[static_cast<std::size_t>(r)];
  std::int64_t twice[] = {twice_pairs_won(own, below)};
  communicator.sum(std::span<std::int64_t>(twice));
  return static_cast<double>(twice[0]) / static_cast<double>(2 * positives * negatives);
}

/// What the counts of all ranks say, so that every rank throws it alike.
class UndefinedArea final : public Error, public mpi::Agreed {
 public:
  using Error::Error;
};

void check_not_nan(std::int64_t scores_not_numbers) {
  if (scores_not_numbers == 0) return;
  throw UndefinedArea(
      fmt::format("no area under a ROC curve: {} scores are not numbers", scores_not_numbers));
}

/// Twice the pairs have to fit into 64 bits.
void check_pairs(std::int64_t positives, std::int64_t negatives) {
  constexpr double kLimit = 0x1.0p62;
  if (static_cast<double>(positives) * static_cast<double>(negatives) < kLimit) return;
  throw UndefinedArea(fmt::format(
      "the pairs of {} positives and {} negatives are too many to count in 64 bits", positives, negatives));
}

}  // namespace

double exact_auc(const mpi::Communicator& communicator, std::span<const float> scores,
                 std::span<const std::uint8_t> positive) {
  const auto negatives = std::count(positive.begin(), positive.end(), 0);
  const auto not_numbers =
      std::count_if(scores.begin(), scores.end(), [](float score) { return std::isnan(score); });
  std::int64_t counts[] = {static_cast<std::int64_t>(positive.size()) - negatives, negatives, not_numbers};
  communicator.sum(std::span<std::int64_t>(counts));
  check_not_nan(counts[2]);
  if (counts[0] == 0 || counts[1] == 0) return std::numeric_limits<double>::quiet_NaN();
  check_pairs(counts[0], counts[1]);
  return auc_of(communicator, scores, positive, counts[0], counts[1]);
}

double mean_column_auc(const mpi::Communicator& communicator, MatrixView<const float> scores,
                       MatrixView<const std::uint8_t> positive, std::span<const std::uint8_t> use) {
  const std::int64_t cols = scores.cols;
  std::vector<std::int64_t> rows;  // that count
  for (std::size_t r = 0; r < use.size(); ++r) {
    if (use[r] != 0) rows.push_back(static_cast<std::int64_t>(r));
  }
  const auto width = static_cast<std::size_t>(cols);
  std::vector<std::int64_t> counts(width + 2, 0);  // positives by column, rows, scores that are not numbers
  counts[width] = static_cast<std::int64_t>(rows.size());
  for (const std::int64_t r : rows) {
    for (std::int64_t c = 0; c < cols; ++c) {
      counts[static_cast<std::size_t>(c)] += positive(r, c) != 0 ? 1 : 0;
      counts[width + 1] += std::isnan(scores(r, c)) ? 1 : 0;
    }
  }
  communicator.sum(std::span<std::int64_t>(counts));
  check_not_nan(counts[width + 1]);

  double sum = 0.0;
  std::int64_t columns = 0;
  std::vector<float> column(rows.size());
  std::vector<std::uint8_t> column_positive(rows.size());
  for (std::int64_t c = 0; c < cols; ++c) {
    const std::int64_t positives = counts[static_cast<std::size_t>(c)];
    const std::int64_t negatives = counts[width] - positives;
    if (positives == 0 || negatives == 0) continue;
    check_pairs(positives, negatives);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      column[k] = scores(rows[k], c);
      column_positive[k] = positive(rows[k], c);
    }
    sum += auc_of(communicator, column, column_positive, positives, negatives);
    ++columns;
  }
  return columns == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(columns);
}

}  // namespace halo::train
