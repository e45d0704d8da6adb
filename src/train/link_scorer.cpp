#include "link_scorer.hpp"

#include <algorithm>
#include <limits>

#include "halo/base/exact_sum.hpp"
#include "halo/base/parallel.hpp"
#include "link_loss.hpp"

namespace halo::train {
namespace {

/// Links that a thread takes at a time.
constexpr std::int64_t kLinks = 256;

RemoteNodes remote_nodes(const dist::LinkSet& links, RowRange owned) {
  RemoteNodes remote(owned);
  for (const auto* ids : {&links.targets, &links.negatives}) {
    for (const NodeId id : *ids) remote.add(id);
  }
  remote.number("nodes in the held-out links of one rank");
  return remote;
}

std::vector<LocalId> local_ends(const dist::LinkSet& links, const RemoteNodes& remote) {
  std::vector<LocalId> ends;
  for (std::int64_t link = 0; link < links.size(); ++link) {
    ends.push_back(remote.local(links.sources[at(link)]));
    ends.push_back(remote.local(links.targets[at(link)]));
    for (std::int64_t k = 0; k < links.negatives_each; ++k)
      ends.push_back(remote.local(links.negatives[at(link * links.negatives_each + k)]));
  }
  return ends;
}

}  // namespace

LinkScorer::LinkScorer(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
                       const dist::LinkSet& links, const std::string& decoder, RowRange range, int threads)
    : LinkScorer(communicator, partition, links, decoder, range, threads,
                 remote_nodes(links, partition.ownership.nodes_of(communicator.rank()))) {}

LinkScorer::LinkScorer(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
                       const dist::LinkSet& links, const std::string& decoder, RowRange range, int threads,
                       const RemoteNodes& remote)
    : communicator_(communicator),
      links_(links),
      decoder_(decoder),
      range_(range),
      threads_(threads),
      ends_(local_ends(links, remote)),
      rows_(communicator, partition.ownership, remote.ids()),
      positives_(at(links.size())),
      negatives_(links.negatives.size()),
      losses_(at(links.size())),
      workers_(at(threads)) {}

double LinkScorer::score(MatrixView<const float> h, std::span<const float> parameters) {
  rows_.fetch(h);
  begin(parameters, h.cols);
  const std::int64_t blocks = (links_.size() + kLinks - 1) / kLinks;
  parallel_for(blocks, threads_, [&](std::int64_t block, int thread) {
    const std::int64_t end = std::min((block + 1) * kLinks, links_.size());
    for (std::int64_t link = block * kLinks; link < end; ++link) score_link(link, workers_[at(thread)]);
  });
  return mean_loss();
}

void LinkScorer::begin(std::span<const float> parameters, std::int64_t cols) {
  for (Worker& worker : workers_) {
    if (!worker.decoder) {
      worker.decoder = make_decoder<float>(decoder_, cols);
      worker.rows.resize(at(kDecoderBatch * cols));
      worker.scores.resize(at(1 + links_.negatives_each));
    }
    worker.decoder->set_parameters(parameters.subspan(at(range_.begin), at(range_.size())));
  }
}

void LinkScorer::score_link(std::int64_t link, Worker& worker) {
  const std::int64_t others = 1 + links_.negatives_each;
  const auto ends = std::span(ends_).subspan(at(link * (1 + others)), at(1 + others));
  const std::span<float> scores(worker.scores);
  for (std::int64_t begin = 0; begin < others; begin += kDecoderBatch) {
    const std::int64_t count = std::min(kDecoderBatch, others - begin);
    const MatrixView<float> batch(worker.rows.data(), count, rows_.cols());
    for (std::int64_t i = 0; i < count; ++i)
      std::copy_n(rows_.row(ends[at(1 + begin + i)]), rows_.cols(), batch.row(i));
    worker.decoder->score(rows_.row(ends[0]), batch, scores.subspan(at(begin), at(count)));
  }
  positives_[at(link)] = scores.front();
  std::ranges::copy(scores.subspan(1), negatives_.begin() + link * links_.negatives_each);
  double loss = link_cross_entropy(static_cast<double>(scores.front()), true);
  for (const float score : scores.subspan(1)) loss += link_cross_entropy(static_cast<double>(score), false);
  losses_[at(link)] = loss;
}

/// The links of a part are added in their order; the parts enter an exact sum, each as its share of the mean:
/// the whole loss of a part may be more than a term of that sum may be.
double LinkScorer::mean_loss() const {
  const auto scored = static_cast<double>(links_.global_size * (1 + links_.negatives_each));
  if (scored == 0.0) return std::numeric_limits<double>::quiet_NaN();
  std::vector<std::int64_t> limbs(at(exact_limb_count(1)));
  for (std::size_t part = 0; part + 1 < links_.part_offsets.size(); ++part) {
    double share = 0.0;
    for (std::int64_t link = links_.part_offsets[part]; link < links_.part_offsets[part + 1]; ++link)
      share += losses_[at(link)];
    share /= scored;
    exact_add<double>(std::span(&share, 1), 0, 1, limbs);
  }
  communicator_.sum(std::span<std::int64_t>(limbs));
  double loss = 0.0;
  exact_values<double>(limbs, 0, 1, std::span(&loss, 1));
  return loss;
}

}  // namespace halo::train
