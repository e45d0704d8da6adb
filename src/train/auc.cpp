#include "halo/train/auc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "halo/mpi/exchange.hpp"
#include "not_numbers.hpp"

namespace halo::train {
namespace {

constexpr const char* kFigure = "area under a ROC curve";

/// Keys of one column; those of column c start at c times this.
constexpr std::uint64_t kKeys = std::uint64_t{1} << 32;

/// How many positives and negatives have one score.
struct Count {
  std::uint64_t key = 0;
  std::int64_t positives = 0;
  std::int64_t negatives = 0;

  std::size_t column() const { return static_cast<std::size_t>(key / kKeys); }
};

/// An integer below kKeys that is ordered as the scores are; both zeros are one.
std::uint64_t key_of(float score) {
  constexpr std::uint32_t kSign = 0x80000000U;
  const auto bits = std::bit_cast<std::uint32_t>(score == 0.0F ? 0.0F : score);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

/// Appends the counts of one column, ascending by key; one entry for each key.
void count_by_key(std::size_t column, std::span<const float> scores, std::span<const std::uint8_t> positive,
                  std::vector<Count>& counts) {
  std::vector<std::uint64_t> words(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    words[i] = key_of(scores[i]) << 1 | static_cast<std::uint64_t>(positive[i] != 0);
  }
  std::sort(words.begin(), words.end());
  const std::size_t first = counts.size();
  for (const std::uint64_t word : words) {
    const std::uint64_t key = column * kKeys + (word >> 1);
    if (counts.size() == first || counts.back().key != key) counts.push_back({.key = key});
    ++((word & 1) != 0 ? counts.back().positives : counts.back().negatives);
  }
}

std::int64_t entries_below(const std::vector<Count>& counts, std::uint64_t key) {
  const auto place = std::lower_bound(counts.begin(), counts.end(), key,
                                      [](const Count& count, std::uint64_t k) { return count.key < k; });
  return place - counts.begin();
}

/// The k-th of the keys that cut (low, high] into kProbes + 1 about equal pieces.
constexpr std::size_t kProbes = 15;
std::uint64_t probe(std::uint64_t low, std::uint64_t high, std::size_t k) {
  const std::uint64_t step = (high - low) / (kProbes + 1);
  return std::min(high, low + std::max<std::uint64_t>(1, step) * (k + 1));
}

/// Collective. Keys [result[r], result[r + 1]) of the keys below `end` belong to rank r, which gets at most
/// its share of all entries and one more from each rank. All inner boundaries are searched for at once, each
/// round with many probes: a round is one reduction, whatever the number of ranks.
std::vector<std::uint64_t> cut_keys(const mpi::Communicator& communicator, const std::vector<Count>& counts,
                                    std::uint64_t end) {
  const auto ranks = static_cast<std::size_t>(communicator.size());
  std::int64_t total[] = {static_cast<std::int64_t>(counts.size())};
  communicator.sum(std::span<std::int64_t>(total));
  std::vector<std::uint64_t> low(ranks, 0);
  low.push_back(end);
  std::vector<std::uint64_t> high(1, 0);
  high.resize(ranks + 1, end);
  std::vector<std::int64_t> below((ranks + 1) * kProbes);
  while (low != high) {  // alike on every rank
    for (std::size_t r = 0; r <= ranks; ++r) {
      for (std::size_t k = 0; k < kProbes; ++k) {
        below[r * kProbes + k] = entries_below(counts, probe(low[r], high[r], k));
      }
    }
    communicator.sum(std::span<std::int64_t>(below));
    for (std::size_t r = 1; r < ranks; ++r) {
      const std::int64_t share = total[0] / communicator.size() * static_cast<std::int64_t>(r);
      const std::uint64_t begin = low[r];
      const std::uint64_t last = high[r];
      for (std::size_t k = 0; k < kProbes && begin < last; ++k) {
        const std::uint64_t key = probe(begin, last, k);
        if (below[r * kProbes + k] <= share) {
          low[r] = std::max(low[r], key);
        } else {
          high[r] = std::min(high[r], key - 1);
        }
      }
    }
  }
  return low;
}

/// Collective. The counts of all ranks for the keys of this one, ascending; a key once for each rank that has
/// it.
std::vector<Count> exchange(const mpi::Communicator& communicator, const std::vector<Count>& counts,
                            std::uint64_t end) {
  const std::vector<std::uint64_t> cuts = cut_keys(communicator, counts, end);
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

/// For each column twice the number of pairs whose positive is in `counts` and has the higher score, ties
/// counted once; `negatives_below`: of each column, those with a lower score than all of `counts`.
std::vector<std::int64_t> twice_pairs_won(const std::vector<Count>& counts,
                                          std::vector<std::int64_t> negatives_below) {
  std::vector<std::int64_t> twice(negatives_below.size(), 0);
  for (std::size_t first = 0; first < counts.size();) {
    const std::size_t column = counts[first].column();
    Count all;
    std::size_t next = first;
    for (; next < counts.size() && counts[next].key == counts[first].key; ++next) {
      all.positives += counts[next].positives;
      all.negatives += counts[next].negatives;
    }
    twice[column] += all.positives * (2 * negatives_below[column] + all.negatives);
    negatives_below[column] += all.negatives;
    first = next;
  }
  return twice;
}

/// Collective. For each column the sum of `own` over the ranks before this one.
std::vector<std::int64_t> sum_of_ranks_before(const mpi::Communicator& communicator,
                                              const std::vector<std::int64_t>& own) {
  const std::size_t columns = own.size();
  std::vector<std::int64_t> of_ranks(columns * static_cast<std::size_t>(communicator.size()), 0);
  const std::size_t here = columns * static_cast<std::size_t>(communicator.rank());
  std::copy(own.begin(), own.end(), of_ranks.begin() + static_cast<std::ptrdiff_t>(here));
  communicator.sum(std::span<std::int64_t>(of_ranks));
  std::vector<std::int64_t> before(columns, 0);
  for (std::size_t k = 0; k < here; ++k) before[k % columns] += of_ranks[k];
  return before;
}

/// Collective. Twice the pairs won of each column, over all ranks. All columns travel together.
std::vector<std::int64_t> count_pairs(const mpi::Communicator& communicator, const std::vector<Count>& counts,
                                      std::size_t columns) {
  const std::vector<Count> own = exchange(communicator, counts, columns * kKeys);
  std::vector<std::int64_t> negatives(columns, 0);
  for (const Count& count : own) negatives[count.column()] += count.negatives;
  std::vector<std::int64_t> twice = twice_pairs_won(own, sum_of_ranks_before(communicator, negatives));
  communicator.sum(std::span<std::int64_t>(twice));
  return twice;
}

double area(std::int64_t twice, std::int64_t positives, std::int64_t negatives) {
  return static_cast<double>(twice) / static_cast<double>(2 * positives * negatives);
}

/// Twice the pairs have to fit into 64 bits.
void check_pairs(std::int64_t positives, std::int64_t negatives) {
  constexpr double kLimit = 0x1.0p62;
  if (static_cast<double>(positives) * static_cast<double>(negatives) < kLimit) return;
  throw UndefinedFigure(fmt::format(
      "the pairs of {} positives and {} negatives are too many to count in 64 bits", positives, negatives));
}

}  // namespace

double exact_auc(const mpi::Communicator& communicator, std::span<const float> scores,
                 std::span<const std::uint8_t> positive) {
  const auto negatives = std::count(positive.begin(), positive.end(), 0);
  std::int64_t counts[] = {static_cast<std::int64_t>(positive.size()) - negatives, negatives,
                           count_not_numbers(scores)};
  communicator.sum(std::span<std::int64_t>(counts));
  check_not_nan(kFigure, counts[2]);
  if (counts[0] == 0 || counts[1] == 0) return std::numeric_limits<double>::quiet_NaN();
  check_pairs(counts[0], counts[1]);
  std::vector<Count> by_key;
  count_by_key(0, scores, positive, by_key);
  return area(count_pairs(communicator, by_key, 1)[0], counts[0], counts[1]);
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
  check_not_nan(kFigure, counts[width + 1]);

  const auto has_area = [&](std::size_t c) { return counts[c] > 0 && counts[c] < counts[width]; };
  std::vector<Count> by_key;
  std::vector<float> column(rows.size());
  std::vector<std::uint8_t> column_positive(rows.size());
  for (std::size_t c = 0; c < width; ++c) {
    if (!has_area(c)) continue;
    check_pairs(counts[c], counts[width] - counts[c]);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      column[k] = scores(rows[k], static_cast<std::int64_t>(c));
      column_positive[k] = positive(rows[k], static_cast<std::int64_t>(c));
    }
    count_by_key(c, column, column_positive, by_key);
  }
  const std::vector<std::int64_t> twice = count_pairs(communicator, by_key, width);
  double sum = 0.0;
  std::int64_t columns = 0;
  for (std::size_t c = 0; c < width; ++c) {
    if (!has_area(c)) continue;
    sum += area(twice[c], counts[c], counts[width] - counts[c]);
    ++columns;
  }
  return columns == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(columns);
}

}  // namespace halo::train
