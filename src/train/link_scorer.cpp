#include "link_scorer.hpp"

#include <algorithm>
#include <limits>

#include "halo/base/checked_cast.hpp"
#include "halo/base/exact_sum.hpp"
#include "halo/base/parallel.hpp"
#include "link_loss.hpp"

namespace halo::train {
namespace {

/// Rows that a decoder takes at a time.
constexpr std::int64_t kBatch = 64;
/// Links that a thread takes at a time.
constexpr std::int64_t kLinks = 256;

/// Ascending nodes of other ranks in targets and negatives.
std::vector<NodeId> remote_nodes(const dist::LinkSet& links, RowRange owned) {
  std::vector<NodeId> nodes;
  for (const auto* ids : {&links.targets, &links.negatives}) {
    std::ranges::copy_if(*ids, std::back_inserter(nodes),
                         [&](NodeId id) { return id < owned.begin || id >= owned.end; });
  }
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

std::vector<LocalId> local_ends(const dist::LinkSet& links, RowRange owned) {
  const std::vector<NodeId> remote = remote_nodes(links, owned);
  checked_cast<LocalId>(owned.size() + std::ssize(remote), "nodes in the held-out links of one rank");
  const auto local = [&](NodeId id) {
    if (id >= owned.begin && id < owned.end) return static_cast<LocalId>(id - owned.begin);
    return static_cast<LocalId>(owned.size() + (std::ranges::lower_bound(remote, id) - remote.begin()));
  };
  std::vector<LocalId> ends;
  for (std::int64_t link = 0; link < links.size(); ++link) {
    ends.push_back(local(links.sources[at(link)]));
    ends.push_back(local(links.targets[at(link)]));
    for (std::int64_t k = 0; k < links.negatives_each; ++k)
      ends.push_back(local(links.negatives[at(link * links.negatives_each + k)]));
  }
  return ends;
}

}  // namespace

LinkScorer::LinkScorer(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
                       const dist::LinkSet& links, const std::string& decoder, DecoderRange range,
                       int threads)
    : communicator_(communicator),
      links_(links),
      decoder_(decoder),
      range_(range),
      threads_(threads),
      ends_(local_ends(links, partition.ownership.nodes_of(communicator.rank()))),
      rows_(communicator, partition.ownership,
            remote_nodes(links, partition.ownership.nodes_of(communicator.rank()))),
      positives_(at(links.size())),
      negatives_(links.negatives.size()) {}

double LinkScorer::score(MatrixView<const float> h, std::span<const float> parameters) {
  rows_.fetch(h);
  const std::int64_t blocks = (links_.size() + kLinks - 1) / kLinks;
  parallel_for(blocks, threads_, [&](std::int64_t block, int) {
    const auto decoder = make_decoder<float>(decoder_, h.cols);
    decoder->set_parameters(parameters.subspan(at(range_.begin), at(range_.size())));
    std::vector<float> rows(at(kBatch * h.cols));
    const std::int64_t end = std::min((block + 1) * kLinks, links_.size());
    for (std::int64_t link = block * kLinks; link < end; ++link) score_link(link, *decoder, rows);
  });
  return mean_loss();
}

void LinkScorer::score_link(std::int64_t link, LinkDecoder<float>& decoder, std::vector<float>& rows) {
  const std::int64_t others = 1 + links_.negatives_each;
  const auto ends = std::span(ends_).subspan(at(link * (1 + others)), at(1 + others));
  std::vector<float> scores(at(others));
  for (std::int64_t begin = 0; begin < others; begin += kBatch) {
    const std::int64_t count = std::min(kBatch, others - begin);
    const MatrixView<float> batch(rows.data(), count, rows_.cols());
    for (std::int64_t i = 0; i < count; ++i)
      std::copy_n(rows_.row(ends[at(1 + begin + i)]), rows_.cols(), batch.row(i));
    decoder.score(rows_.row(ends[0]), batch, std::span(scores).subspan(at(begin), at(count)));
  }
  positives_[at(link)] = scores.front();
  std::copy(scores.begin() + 1, scores.end(), negatives_.begin() + link * links_.negatives_each);
}

/// The terms of a part are added in their order; the parts enter an exact sum.
double LinkScorer::mean_loss() const {
  const std::int64_t each = links_.negatives_each;
  std::vector<std::int64_t> limbs(at(exact_limb_count(1)));
  for (std::size_t part = 0; part + 1 < links_.part_offsets.size(); ++part) {
    double sum = 0.0;
    for (std::int64_t link = links_.part_offsets[part]; link < links_.part_offsets[part + 1]; ++link) {
      sum += link_cross_entropy(static_cast<double>(positives_[at(link)]), true);
      for (const float score : negatives().subspan(at(link * each), at(each)))
        sum += link_cross_entropy(static_cast<double>(score), false);
    }
    exact_add<double>(std::span(&sum, 1), 0, 1, limbs);
  }
  communicator_.sum(std::span<std::int64_t>(limbs));
  double loss = 0.0;
  exact_values<double>(limbs, 0, 1, std::span(&loss, 1));
  const auto scored = static_cast<double>(links_.global_size * (1 + each));
  return scored > 0.0 ? loss / scored : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace halo::train
