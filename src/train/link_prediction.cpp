#include "halo/train/link_prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "halo/base/error.hpp"
#include "halo/train/auc.hpp"
#include "halo/train/link_metrics.hpp"
#include "halo/train/row_output.hpp"
#include "link_loss.hpp"
#include "link_scorer.hpp"

namespace halo::train {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The K of "hits@K".
std::optional<std::int64_t> hits_of(const std::string& metric) {
  constexpr std::string_view kPrefix = "hits@";
  if (!metric.starts_with(kPrefix)) return std::nullopt;
  std::int64_t k = 0;
  const char* const end = metric.data() + metric.size();
  const auto [stop, error] = std::from_chars(metric.data() + kPrefix.size(), end, k);
  if (error != std::errc() || stop != end || k < 1) return std::nullopt;
  return k;
}

std::vector<std::string> metrics_of(const LinkOptions& options) {
  if (!options.metrics.empty()) return options.metrics;
  std::vector<std::string> metrics{"roc_auc", "mrr"};
  for (const std::int64_t k : options.hits_k) metrics.push_back(fmt::format("hits@{}", k));
  return metrics;
}

[[noreturn]] void refuse(const std::string& where, const std::string& found, const std::string& expected) {
  throw InputError({.what = "an option of link prediction is out of range",
                    .where = where,
                    .found = found,
                    .expected = expected,
                    .next = "see gnn_train --help"});
}

/// Collective.
double auc_of(const mpi::Communicator& communicator, const LinkScorer& scorer) {
  std::vector<float> scores(scorer.positives().begin(), scorer.positives().end());
  scores.insert(scores.end(), scorer.negatives().begin(), scorer.negatives().end());
  std::vector<std::uint8_t> positive(scorer.positives().size(), 1);
  positive.resize(scores.size(), 0);
  return exact_auc(communicator, scores, positive);
}

/// Collective. One value for each of `metrics`; the best negatives are looked for once for all hits@K.
std::vector<double> measure(const mpi::Communicator& communicator, const LinkScorer& scorer,
                            const std::vector<std::string>& metrics) {
  std::vector<std::int64_t> ks;
  for (const std::string& name : metrics) {
    if (const auto k = hits_of(name)) ks.push_back(*k);
  }
  std::vector<double> hits;
  if (!ks.empty()) hits = hits_at(communicator, scorer.positives(), scorer.negatives(), ks);
  auto next_hits = hits.begin();
  std::vector<double> values;
  for (const std::string& name : metrics) {
    if (name == "roc_auc") {
      values.push_back(auc_of(communicator, scorer));
    } else if (name == "mrr") {
      values.push_back(mean_reciprocal_rank(communicator, scorer.positives(), scorer.negatives(),
                                            scorer.links().negatives_each));
    } else {
      values.push_back(*next_hits++);
    }
  }
  return values;
}

}  // namespace

void check_link_options(const LinkOptions& options) {
  if (options.negatives < 1) refuse("--negatives", std::to_string(options.negatives), "at least 1");
  for (const std::int64_t k : options.hits_k) {
    if (k < 1) refuse("--hits-k", std::to_string(k), "at least 1");
  }
  for (const std::string& metric : options.metrics) {
    if (metric != "roc_auc" && metric != "mrr" && !hits_of(metric))
      refuse("--metric", metric, "roc_auc, mrr or hits@K");
    if (std::ranges::count(options.metrics, metric) > 1)
      refuse("--metric", fmt::format("{} twice", metric), "each once");
  }
}

template <typename Real>
std::unique_ptr<nn::RowLoss<Real>> make_link_loss(const mpi::Communicator& communicator,
                                                  const dist::LocalPartition& partition,
                                                  const nn::Program& program, const LinkOptions& options,
                                                  int threads) {
  return std::make_unique<LinkLoss<Real>>(communicator, partition, options.decoder, decoder_range(program),
                                          options.negatives, threads);
}
template std::unique_ptr<nn::RowLoss<float>> make_link_loss(const mpi::Communicator&,
                                                            const dist::LocalPartition&, const nn::Program&,
                                                            const LinkOptions&, int);
template std::unique_ptr<nn::RowLoss<double>> make_link_loss(const mpi::Communicator&,
                                                             const dist::LocalPartition&, const nn::Program&,
                                                             const LinkOptions&, int);

LinkPrediction::LinkPrediction(const mpi::Communicator& communicator, const dist::LocalPartition& partition,
                               const nn::Program& program, const LinkOptions& options, int threads,
                               bool with_loss)
    : communicator_(communicator), metrics_(metrics_of(options)) {
  communicator.agree([&] { check_link_options(options); });
  if (with_loss) loss_ = make_link_loss<float>(communicator, partition, program, options, threads);
  for (const auto& [links, scorer] :
       {std::pair(&partition.val_links, &scorers_[0]), std::pair(&partition.test_links, &scorers_[1])}) {
    *scorer = std::make_unique<LinkScorer>(communicator, partition, *links, options.decoder,
                                           decoder_range(program), threads);
  }
}
LinkPrediction::~LinkPrediction() = default;

void LinkPrediction::write_scores(const std::filesystem::path& folder) const {
  for (const auto& [scorer, name] : {std::pair(scorers_[0].get(), "val_link_scores.npy"),
                                     std::pair(scorers_[1].get(), "test_link_scores.npy")}) {
    const dist::LinkSet& links = scorer->links();
    if (links.global_size == 0) continue;
    const std::int64_t each = links.negatives_each;
    std::vector<float> rows;
    for (std::int64_t link = 0; link < links.size(); ++link) {
      rows.push_back(scorer->positives()[at(link)]);
      const auto negatives = scorer->negatives().subspan(at(link * each), at(each));
      rows.insert(rows.end(), negatives.begin(), negatives.end());
    }
    write_node_rows<float>(communicator_, folder / name, links.global_size, links.position,
                           {rows.data(), links.size(), 1 + each});
  }
}

Scoring LinkPrediction::evaluate(MatrixView<const float> h, std::span<const float> parameters) {
  Scoring scoring;
  scoring.loss = {kNan, scorers_[0]->score(h, parameters), scorers_[1]->score(h, parameters)};
  const std::vector<double> validation = measure(communicator_, *scorers_[0], metrics_);
  const std::vector<double> test = measure(communicator_, *scorers_[1], metrics_);
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    scoring.metrics.push_back(
        {.name = metrics_[i], .value = {kNan, validation[i], test[i]}, .higher_is_better = true});
  }
  return scoring;
}

}  // namespace halo::train
