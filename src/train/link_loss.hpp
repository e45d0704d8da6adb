#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "halo/base/buffer.hpp"
#include "halo/nn/row_loss.hpp"
#include "link_decoder.hpp"
#include "link_pairs.hpp"
#include "row_fetch.hpp"

namespace halo::train {

/// log(1 + exp(-s)) of an edge, log(1 + exp(s)) of a pair that is none: the binary cross-entropy of a logit.
double link_cross_entropy(double score, bool positive);

/// Mean binary cross-entropy over the pairs that PairSampler draws for the epoch. Every sum over pairs has
/// the same bits on any number of ranks and threads: a node's pairs come in a fixed order, the nodes of a
/// group of tiles too, and the groups enter an exact sum.
template <typename Real>
class LinkLoss final : public nn::RowLoss<Real> {
 public:
  /// Collective. `decoder`: see make_decoder(); `range`: its parameters in the flat buffer. The communicator
  /// and the partition stay the caller's. InputError as PairSampler.
  LinkLoss(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
           const std::string& decoder, RowRange range, std::int64_t negatives, int threads);

  double compute(MatrixView<const Real> h, std::span<const Real> parameters, std::uint64_t seed,
                 std::uint64_t epoch, MatrixView<Real> dh, std::span<Real> gradient) override;

 private:
  struct Worker {
    std::unique_ptr<LinkDecoder<Real>> decoder;
    double loss = 0.0;           ///< of the group
    Buffer<Real> gradient;       ///< of the group, the decoder's parameters
    Buffer<Real> rows;           ///< [kDecoderBatch x d] of the other nodes
    Buffer<std::int64_t> limbs;  ///< exact: [gradient | loss]
  };
  void begin(std::span<const Real> parameters, std::int64_t cols);
  void run_group(const EpochPairs& pairs, const RowFetch<Real>& rows, const graph::TileGroup& group,
                 MatrixView<Real> dh, Worker& worker) const;
  void run_node(std::span<const PairEnd> ends, const RowFetch<Real>& rows, LocalId node, std::span<Real> dh,
                Worker& worker) const;
  double finish(std::span<Real> gradient);

  const mpi::Communicator& communicator_;
  const dist::LocalPartition& partition_;
  std::string decoder_;
  RowRange range_;
  int threads_;
  PairSampler sampler_;
  std::vector<Worker> workers_;  ///< one for each thread
};

}  // namespace halo::train
