#include "link_loss.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "halo/base/exact_sum.hpp"
#include "halo/base/parallel.hpp"

namespace halo::train {

double link_cross_entropy(double score, bool positive) {
  const double toward = positive ? -score : score;
  return std::max(toward, 0.0) + std::log1p(std::exp(-std::abs(toward)));
}

template <typename Real>
LinkLoss<Real>::LinkLoss(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
                         const std::string& decoder, RowRange range, std::int64_t negatives, int threads)
    : communicator_(communicator),
      partition_(partition),
      decoder_(decoder),
      range_(range),
      threads_(threads),
      sampler_(communicator, partition, negatives, threads),
      workers_(at(threads)) {}

template <typename Real>
double LinkLoss<Real>::compute(MatrixView<const Real> h, std::span<const Real> parameters, std::uint64_t seed,
                               std::uint64_t epoch, MatrixView<Real> dh, std::span<Real> gradient) {
  const EpochPairs pairs = sampler_.draw(seed, epoch);
  RowFetch<Real> rows(communicator_, partition_.ownership, pairs.remote);
  rows.fetch(h);
  begin(parameters, h.cols);
  const auto& groups = partition_.graph.groups;
  parallel_for(std::ssize(groups), threads_, [&](std::int64_t group, int thread) {
    run_group(pairs, rows, groups[at(group)], dh, workers_[at(thread)]);
  });
  return finish(gradient);
}

template <typename Real>
void LinkLoss<Real>::begin(std::span<const Real> parameters, std::int64_t cols) {
  for (Worker& worker : workers_) {
    if (!worker.decoder) {
      worker.decoder = make_decoder<Real>(decoder_, cols);
      worker.gradient = Buffer<Real>(range_.size());
      worker.rows = Buffer<Real>(kDecoderBatch * cols);
      worker.limbs = Buffer<std::int64_t>(exact_limb_count(range_.size()) + exact_limb_count(1));
    }
    worker.decoder->set_parameters(parameters.subspan(at(range_.begin), at(range_.size())));
    worker.limbs.fill(0);
  }
}

template <typename Real>
void LinkLoss<Real>::run_group(const EpochPairs& pairs, const RowFetch<Real>& rows,
                               const graph::TileGroup& group, MatrixView<Real> dh, Worker& worker) const {
  const auto& tiles = partition_.graph.tiles;
  const RowRange nodes = {tiles[at(group.first_tile)].rows.begin, tiles[at(group.last_tile) - 1].rows.end};
  worker.loss = 0.0;
  worker.gradient.fill(Real{0});
  for (std::int64_t node = nodes.begin; node < nodes.end; ++node) {
    const auto ends =
        std::span(pairs.ends)
            .subspan(at(pairs.offsets[at(node)]), at(pairs.offsets[at(node) + 1] - pairs.offsets[at(node)]));
    run_node(ends, rows, static_cast<LocalId>(node), {dh.row(node), at(dh.cols)}, worker);
  }
  const auto limbs = worker.limbs.span();
  exact_add<Real>(worker.gradient.span(), 0, range_.size(), limbs.first(at(exact_limb_count(range_.size()))));
  exact_add<double>(std::span(&worker.loss, 1), 0, 1, limbs.last(at(exact_limb_count(1))));
}

template <typename Real>
void LinkLoss<Real>::run_node(std::span<const PairEnd> ends, const RowFetch<Real>& rows, LocalId node,
                              std::span<Real> dh, Worker& worker) const {
  std::ranges::fill(dh, Real{0});
  const auto pairs = static_cast<double>(sampler_.global_pairs());
  std::array<Real, kDecoderBatch> scores, dscores;
  std::array<std::uint8_t, kDecoderBatch> counts;
  for (std::size_t begin = 0; begin < ends.size(); begin += kDecoderBatch) {
    const auto batch = ends.subspan(begin, std::min<std::size_t>(kDecoderBatch, ends.size() - begin));
    const MatrixView<Real> others(worker.rows.data(), std::ssize(batch), rows.cols());
    for (std::size_t i = 0; i < batch.size(); ++i)
      std::copy_n(rows.row(batch[i].other), rows.cols(), others.row(static_cast<std::int64_t>(i)));
    worker.decoder->score(rows.row(node), others, std::span(scores).first(batch.size()));
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto score = static_cast<double>(scores[i]);
      const double likely = 1.0 / (1.0 + std::exp(-score));
      dscores[i] = static_cast<Real>((likely - (batch[i].positive ? 1.0 : 0.0)) / pairs);
      counts[i] = batch[i].first ? 1 : 0;
      if (batch[i].first) worker.loss += link_cross_entropy(score, batch[i].positive);
    }
    worker.decoder->backward(rows.row(node), others, std::span(dscores).first(batch.size()),
                             std::span(counts).first(batch.size()), dh, worker.gradient.span());
  }
}

template <typename Real>
double LinkLoss<Real>::finish(std::span<Real> gradient) {
  const auto limbs = workers_.front().limbs.span();
  for (std::size_t t = 1; t < workers_.size(); ++t) exact_merge(workers_[t].limbs.span(), limbs);
  communicator_.sum(limbs);
  std::vector<Real> own(at(range_.size()));
  exact_values<Real>(limbs.first(at(exact_limb_count(range_.size()))), 0, range_.size(), own);
  for (std::size_t k = 0; k < own.size(); ++k) gradient[at(range_.begin) + k] += own[k];
  double loss = 0.0;
  exact_values<double>(limbs.last(at(exact_limb_count(1))), 0, 1, std::span(&loss, 1));
  return loss / static_cast<double>(sampler_.global_pairs());
}

template class LinkLoss<float>;
template class LinkLoss<double>;

}  // namespace halo::train
