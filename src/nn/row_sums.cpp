#include "halo/nn/row_sums.hpp"

#include <algorithm>

#include "halo/base/exact_sum.hpp"
#include "halo/base/timer.hpp"

namespace halo::nn {
namespace {

constexpr std::int64_t kMeasureSums = kSplits * kMeasures;
/// Measures enter the accumulator times this, so that a group's squared errors may sum to 2^56; a power of
/// two, so that it costs no bit of the sum.
constexpr double kMeasureScale = 0x1.0p-24;
constexpr std::int64_t kCountsPerClass = 3;
static_assert(sizeof(ClassCounts) == kCountsPerClass * sizeof(std::int64_t), "counts travel as integers");

}  // namespace

template <typename Real>
RowSums<Real>::RowSums(const Program& program, std::int64_t classes, int threads)
    : parameters_(program.parameters),
      reductions_(program.reductions),
      learnt_(program.learnt_count()),
      classes_(classes),
      threads_(at(threads)) {
  std::int64_t values = 0;
  std::int64_t limbs = 0;
  for (const Reduction& reduction : reductions_) {
    reduction_offsets_.push_back(values);
    limb_offsets_.push_back(limbs);
    values += reduction.size;
    limbs += exact_limb_count(reduction.size);
  }
  for (ThreadSums& sums : threads_) {
    sums.gradient = Buffer<Real>(learnt_);
    sums.reductions = Buffer<double>(values);
    sums.limbs = Buffer<std::int64_t>(exact_limb_count(learnt_) + exact_limb_count(kMeasureSums) +
                                      kSplits * classes * kCountsPerClass);
    sums.reduction_limbs = Buffer<std::int64_t>(limbs);
    sums.reduction_limbs.fill(0);
  }
}

template <typename Real>
void RowSums<Real>::begin_group(int thread, const Stage& stage) {
  ThreadSums& sums = threads_[at(thread)];
  sums.measures.fill(0.0);
  for (const ParameterId id : stage.gradients) {
    const Parameter& parameter = parameters_[at(id)];
    std::fill_n(sums.gradient.data() + parameter.offset, parameter.size(), Real{0});
  }
  for (const ReductionId id : stage.written) {
    const auto terms = reduction(thread, id);
    std::fill(terms.begin(), terms.end(), 0.0);
  }
}

template <typename Real>
void RowSums<Real>::end_group(int thread, const Stage& stage) {
  const Timer timer;
  ThreadSums& sums = threads_[at(thread)];
  for (const ParameterId id : stage.gradients) {
    const Parameter& parameter = parameters_[at(id)];
    exact_add<Real>(sums.gradient.span().subspan(at(parameter.offset), at(parameter.size())),
                    parameter.offset, learnt_, gradient_limbs(sums));
  }
  for (const ReductionId id : stage.written) {
    const auto terms = reduction(thread, id);
    for (double& term : terms) term *= reductions_[at(id)].scale;
    exact_add<double>(terms, 0, reductions_[at(id)].size, reduction_limbs(sums, id));
  }
  const auto measure_limbs =
      sums.limbs.span().subspan(at(exact_limb_count(learnt_)), at(exact_limb_count(kMeasureSums)));
  for (double& measure : sums.measures) measure *= kMeasureScale;
  exact_add<double>(sums.measures, 0, kMeasureSums, measure_limbs);
  sums.seconds += timer.seconds();
}

template <typename Real>
MatrixView<Real> RowSums<Real>::gradient(int thread, const Parameter& parameter) {
  return {threads_[at(thread)].gradient.data() + parameter.offset, parameter.rows, parameter.cols};
}

template <typename Real>
std::span<double> RowSums<Real>::reduction(int thread, ReductionId id) {
  return threads_[at(thread)].reductions.span().subspan(at(reduction_offsets_[at(id)]),
                                                        at(reductions_[at(id)].size));
}

template <typename Real>
void RowSums<Real>::add(int thread, int split, Measure measure, double term) {
  threads_[at(thread)].measures[at(split * kMeasures + static_cast<int>(measure))] += term;
}

template <typename Real>
std::span<ClassCounts> RowSums<Real>::counts(int thread) {
  const auto integers = threads_[at(thread)].limbs.span().last(at(kSplits * classes_ * kCountsPerClass));
  return {reinterpret_cast<ClassCounts*>(integers.data()), at(kSplits * classes_)};
}

template <typename Real>
std::span<const ClassCounts> RowSums<Real>::total_counts() const {
  const auto integers = threads_.front().limbs.span().last(at(kSplits * classes_ * kCountsPerClass));
  return {reinterpret_cast<const ClassCounts*>(integers.data()), at(kSplits * classes_)};
}

template <typename Real>
void RowSums<Real>::clear() {
  const Timer timer;
  for (ThreadSums& sums : threads_) sums.limbs.fill(0);
  merge_seconds_ += timer.seconds();
}

template <typename Real>
std::span<std::int64_t> RowSums<Real>::merge_reduction(ReductionId id) {
  const Timer timer;
  const auto total = reduction_limbs(threads_.front(), id);
  for (std::size_t thread = 1; thread < threads_.size(); ++thread) {
    const auto limbs = reduction_limbs(threads_[thread], id);
    exact_merge(limbs, total);
    std::fill(limbs.begin(), limbs.end(), 0);
  }
  merge_seconds_ += timer.seconds();
  return total;
}

template <typename Real>
void RowSums<Real>::read_reduction(ReductionId id, std::span<double> values) {
  const Timer timer;
  const auto limbs = reduction_limbs(threads_.front(), id);
  exact_values<double>(limbs, 0, reductions_[at(id)].size, values);
  for (double& value : values) value /= reductions_[at(id)].scale;
  std::fill(limbs.begin(), limbs.end(), 0);
  merge_seconds_ += timer.seconds();
}

template <typename Real>
std::span<std::int64_t> RowSums<Real>::merge(bool skip_gradients) {
  const Timer timer;
  const std::size_t skip = skip_gradients ? at(exact_limb_count(learnt_)) : 0;
  const auto total = threads_.front().limbs.span().subspan(skip);
  for (std::size_t thread = 1; thread < threads_.size(); ++thread) {
    exact_merge(threads_[thread].limbs.span().subspan(skip), total);
  }
  merge_seconds_ += timer.seconds();
  return total;
}

template <typename Real>
void RowSums<Real>::read_gradient(std::span<Real> values) {
  const Timer timer;
  exact_values<Real>(gradient_limbs(threads_.front()), 0, learnt_, values.first(at(learnt_)));
  merge_seconds_ += timer.seconds();
}

template <typename Real>
double RowSums<Real>::measure(int split, Measure measure) const {
  double value = 0.0;
  exact_values<double>(threads_.front().limbs.span().subspan(at(exact_limb_count(learnt_)),
                                                             at(exact_limb_count(kMeasureSums))),
                       split * kMeasures + static_cast<int>(measure), kMeasureSums, std::span(&value, 1));
  return value / kMeasureScale;
}

template <typename Real>
std::int64_t RowSums<Real>::bytes() const {
  std::int64_t bytes = 0;
  for (const ThreadSums& sums : threads_) {
    bytes += sums.gradient.size() * static_cast<std::int64_t>(sizeof(Real)) +
             (sums.reductions.size() + sums.limbs.size() + sums.reduction_limbs.size()) *
                 static_cast<std::int64_t>(sizeof(std::int64_t));
  }
  return bytes;
}

template <typename Real>
double RowSums<Real>::seconds() const {
  double of_threads = 0.0;
  for (const ThreadSums& sums : threads_) of_threads += sums.seconds;
  return merge_seconds_ + of_threads / static_cast<double>(threads_.size());
}

template <typename Real>
void RowSums<Real>::reset_seconds() {
  merge_seconds_ = 0.0;
  for (ThreadSums& sums : threads_) sums.seconds = 0.0;
}

template <typename Real>
std::span<std::int64_t> RowSums<Real>::gradient_limbs(ThreadSums& sums) const {
  return sums.limbs.span().first(at(exact_limb_count(learnt_)));
}

template <typename Real>
std::span<std::int64_t> RowSums<Real>::reduction_limbs(ThreadSums& sums, ReductionId id) const {
  return sums.reduction_limbs.span().subspan(at(limb_offsets_[at(id)]),
                                             at(exact_limb_count(reductions_[at(id)].size)));
}

template class RowSums<float>;
template class RowSums<double>;

}  // namespace halo::nn
