#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "halo/base/buffer.hpp"
#include "halo/base/matrix_view.hpp"
#include "halo/nn/schedule.hpp"
#include "halo/nn/targets.hpp"

namespace halo::nn {

/// Sums of one split: its loss and, in a regression, the errors.
enum class Measure { kLoss, kSquaredError, kAbsoluteError };
inline constexpr int kMeasures = 3;

/// Everything that is summed over rows: gradients, reductions, losses and counts. Each thread adds up the
/// rows of one group of tiles in plain floating point; that term then enters an exact accumulator
/// (exact_sum.hpp), so that no sum depends on which thread or rank took which group.
template <typename Real>
class RowSums {
 public:
  RowSums(const Program& program, std::int64_t classes, int threads);

  // Of the group that `thread` works on.
  void begin_group(int thread, const Stage& stage);
  void end_group(int thread, const Stage& stage);
  MatrixView<Real> gradient(int thread, const Parameter& parameter);
  std::span<double> reduction(int thread, ReductionId id);
  void add(int thread, int split, Measure measure, double term);
  /// [kSplits x classes]; integers need no groups.
  std::span<ClassCounts> counts(int thread);

  // Of the whole run, outside of parallel loops.
  void clear();
  /// This rank's limbs of a reduction, all threads merged: to be summed over ranks in place.
  std::span<std::int64_t> merge_reduction(ReductionId id);
  /// Values of a reduction from its summed limbs; clears them for the next time.
  void read_reduction(ReductionId id, std::span<double> values);
  /// This rank's gradients (unless `skip_gradients`), measures and counts, all threads merged: to be summed
  /// over ranks in place.
  std::span<std::int64_t> merge(bool skip_gradients);
  void read_gradient(std::span<Real> values);  ///< learnt parameters, from summed limbs
  double measure(int split, Measure measure) const;
  std::span<const ClassCounts> total_counts() const;

  std::int64_t bytes() const;
  /// Seconds spent on splitting terms, merging threads and reading sums since the last reset, this rank.
  double seconds() const;
  void reset_seconds();

 private:
  struct ThreadSums {
    Buffer<Real> gradient;  ///< terms of the group
    Buffer<double> reductions;
    std::array<double, std::size_t{kSplits}* kMeasures> measures = {};
    Buffer<std::int64_t> limbs;  ///< exact: [gradients | measures | counts]
    Buffer<std::int64_t> reduction_limbs;
    double seconds = 0.0;
  };
  std::span<std::int64_t> gradient_limbs(ThreadSums& sums) const;
  std::span<std::int64_t> reduction_limbs(ThreadSums& sums, ReductionId id) const;

  std::vector<Parameter> parameters_;
  std::vector<Reduction> reductions_;
  std::vector<std::int64_t> reduction_offsets_;  ///< into ThreadSums::reductions
  std::vector<std::int64_t> limb_offsets_;       ///< into ThreadSums::reduction_limbs
  std::int64_t learnt_ = 0;
  std::int64_t classes_ = 0;
  std::vector<ThreadSums> threads_;
  double merge_seconds_ = 0.0;
};

}  // namespace halo::nn
