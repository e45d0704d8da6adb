#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "halo/dist/load_partition.hpp"
#include "halo/mpi/communicator.hpp"
#include "link_decoder.hpp"
#include "row_fetch.hpp"

namespace halo::train {

/// Scores held-out edges and their negatives.
class LinkScorer {
 public:
  /// Collective. Plans the one exchange of rows that every evaluation needs.
  LinkScorer(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
             const dist::LinkSet& links, const std::string& decoder, RowRange range, int threads);

  /// Collective. Scores at the rows h [owned x d]; returns the mean binary cross-entropy over edges and
  /// negatives of all ranks, NaN without any.
  double score(MatrixView<const float> h, std::span<const float> parameters);

  const dist::LinkSet& links() const { return links_; }
  std::span<const float> positives() const { return positives_; }  ///< [links]
  std::span<const float> negatives() const { return negatives_; }  ///< [links x negatives_each]

 private:
  struct Worker {
    std::unique_ptr<LinkDecoder<float>> decoder;
    std::vector<float> rows;    ///< [kDecoderBatch x d] of the other nodes
    std::vector<float> scores;  ///< [1 + negatives_each] of the link
  };
  LinkScorer(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
             const dist::LinkSet& links, const std::string& decoder, RowRange range, int threads,
             const RemoteNodes& remote);
  void begin(std::span<const float> parameters, std::int64_t cols);
  void score_link(std::int64_t link, Worker& worker);
  double mean_loss() const;

  const mpi::Communicator& communicator_;
  const dist::LinkSet& links_;
  std::string decoder_;
  RowRange range_;
  int threads_;
  std::vector<LocalId> ends_;  ///< [links x (2 + negatives_each)] u, v, v' ... as RowFetch numbers them
  RowFetch<float> rows_;
  std::vector<float> positives_, negatives_;
  std::vector<double> losses_;   ///< of each link: the sum over its edge and negatives
  std::vector<Worker> workers_;  ///< one for each thread
};

}  // namespace halo::train
