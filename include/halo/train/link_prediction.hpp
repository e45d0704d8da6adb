#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halo/base/matrix_view.hpp"
#include "halo/dist/load_partition.hpp"
#include "halo/mpi/communicator.hpp"
#include "halo/nn/program.hpp"
#include "halo/nn/row_loss.hpp"
#include "halo/train/metrics.hpp"

namespace halo::train {

struct LinkOptions {
  std::string decoder = "dot";                        ///< dot: <x, y>; mlp: two layers on the product x * y
  std::int64_t negatives = 1;                         ///< drawn for each edge and epoch
  std::vector<std::int64_t> hits_k{10, 20, 50, 100};  ///< the K of Hits@K
  std::vector<std::string> metrics{};  ///< roc_auc, mrr, hits@K of any K; empty: all with the K above
};

/// InputError on options out of range.
void check_link_options(const LinkOptions& options);

/// Collective. Mean binary cross-entropy over the edges of the graph, each pair of nodes once and without
/// loops, and `negatives` pairs (u, v') for each edge (u, v), v' drawn anew in every epoch, uniform over all
/// nodes but u. `program` is a model with the decoder's parameters; the communicator and the partition stay
/// the caller's. The same bits on any number of ranks and threads. InputError, the same on every rank, on a
/// graph without edges. Real: float or double.
template <typename Real>
std::unique_ptr<nn::RowLoss<Real>> make_link_loss(const mpi::Communicator& communicator,
                                                  const dist::LocalPartition& partition,
                                                  const nn::Program& program, const LinkOptions& options,
                                                  int threads);

class LinkScorer;

/// The task of link prediction on one partitioned dataset.
class LinkPrediction {
 public:
  /// Collective. As make_link_loss(); InputError, the same on every rank, on options out of range.
  /// `with_loss` false: to score only, which draws no pairs and so needs no edges.
  LinkPrediction(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
                 const nn::Program& program, const LinkOptions& options, int threads, bool with_loss = true);
  ~LinkPrediction();

  /// Null without a loss.
  nn::RowLoss<float>* row_loss() { return loss_.get(); }
  /// Collective. Loss (over the held-out edges and their negatives) and metrics of the validation and test
  /// edges at the model's output h [owned x d]; NaN for the training edges. Error, the same on every rank,
  /// where a score is NaN.
  ///   roc_auc  exact_auc() of all held-out edges against all their negatives
  ///   mrr      mean_reciprocal_rank() of each edge among its own negatives
  ///   hits@K   hits_at() K of all negatives together
  Scoring evaluate(MatrixView<const float> h, std::span<const float> parameters);
  /// Collective. val_link_scores.npy and test_link_scores.npy, float32 [M x (1 + negatives)], of the last
  /// evaluation: row i holds the logits of the dataset's i-th held-out edge and of its negatives. Nothing for
  /// an empty set.
  void write_scores(const std::filesystem::path& folder) const;

 private:
  const mpi::Communicator& communicator_;
  std::vector<std::string> metrics_;
  std::unique_ptr<nn::RowLoss<float>> loss_;
  std::array<std::unique_ptr<LinkScorer>, 2> scorers_;  ///< validation, test
};

}  // namespace halo::train
