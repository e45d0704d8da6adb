#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "halo/base/error.hpp"
#include "halo/train/metrics.hpp"
#include "support/mpi_world.hpp"

namespace train = halo::train;
namespace nn = halo::nn;
using halo::MatrixView;
using halo::testing::world;

namespace {

constexpr std::size_t kValidation = 1;

/// A validation split of `rows` rows over all ranks; the other splits are empty.
nn::Targets validation_rows(nn::Task task, std::size_t rows) {
  nn::Targets targets;
  targets.task = task;
  for (auto& split : targets.rows) split.assign(rows, 0);
  targets.rows[kValidation].assign(rows, 1);
  targets.global_count[kValidation] = static_cast<std::int64_t>(rows) * world().size();
  return targets;
}

nn::Scores scores_with(const std::vector<nn::ClassCounts>& validation) {
  nn::Scores scores;
  scores.counts.resize(nn::kSplits * validation.size());
  std::copy(validation.begin(), validation.end(),
            scores.counts.begin() + static_cast<std::ptrdiff_t>(kValidation * validation.size()));
  return scores;
}

train::Metric only_metric(const train::Scoring& scoring) {
  REQUIRE(scoring.metrics.size() == 1);
  return scoring.metrics[0];
}

}  // namespace

TEST_CASE("F1 by hand: a class nobody saw counts among multi-labels and not among single labels") {
  // F1 of the classes: 2/3, 0 / 0, 1/2.
  const std::vector<nn::ClassCounts> counts = {
      {.true_positive = 3, .false_positive = 1, .false_negative = 2},
      {},
      {.true_positive = 1, .false_positive = 2, .false_negative = 0}};
  const nn::Scores scores = scores_with(counts);
  const MatrixView<const float> none;
  const auto value = [&](nn::Task task, const std::string& name) {
    const auto metric =
        only_metric(train::score_outputs(world(), validation_rows(task, 1), scores, none, {name}));
    CHECK(metric.name == name);
    CHECK(metric.higher_is_better);
    CHECK(std::isnan(metric.value[0]));
    return metric.value[kValidation];
  };
  CHECK(value(nn::Task::kMultiLabel, "f1_micro") == doctest::Approx(8.0 / 13.0));
  CHECK(value(nn::Task::kMultiLabel, "f1_macro") == doctest::Approx((2.0 / 3.0 + 0.5) / 3.0));
  CHECK(value(nn::Task::kSingleLabel, "f1_macro") == doctest::Approx((2.0 / 3.0 + 0.5) / 2.0));
}

TEST_CASE("without a true positive F1 is 0") {
  const nn::Scores scores = scores_with({{}, {}});
  const auto scoring = train::score_outputs(world(), validation_rows(nn::Task::kMultiLabel, 1), scores,
                                            MatrixView<const float>(), {"f1_micro", "f1_macro"});
  CHECK(scoring.metrics[0].value[kValidation] == 0.0);
  CHECK(scoring.metrics[1].value[kValidation] == 0.0);
}

TEST_CASE("what the executor has summed is passed on in the order asked for") {
  nn::Scores scores;
  scores.loss = {0.1, 0.2, 0.3};
  scores.accuracy[kValidation] = 0.75;
  scores.squared_error[kValidation] = 4.0;
  scores.absolute_error[kValidation] = 1.5;
  const auto regression =
      train::score_outputs(world(), validation_rows(nn::Task::kSquaredError, 1), scores, {}, {"mae", "mse"});
  CHECK(regression.loss == scores.loss);
  CHECK(regression.metrics[0].value[kValidation] == 1.5);
  CHECK(regression.metrics[1].value[kValidation] == 4.0);
  CHECK(!regression.metrics[0].higher_is_better);
  CHECK(std::isnan(regression.metrics[0].value[2]));
  const auto labels =
      train::score_outputs(world(), validation_rows(nn::Task::kSingleLabel, 1), scores, {}, {"accuracy"});
  CHECK(only_metric(labels).value[kValidation] == 0.75);
}

TEST_CASE("the area under the curve of two classes orders rows by the difference of the outputs") {
  nn::Targets targets = validation_rows(nn::Task::kSingleLabel, 4);
  targets.labels = {0, 0, 1, 1};
  // Differences 1, 4, 3, 8: as the well-known example 0.1, 0.4, 0.35, 0.8; every rank has the same rows.
  const std::vector<float> logits = {1.0F, 2.0F, 0.0F, 4.0F, -3.0F, 0.0F, -9.0F, -1.0F};
  const auto metric = only_metric(
      train::score_outputs(world(), targets, {}, MatrixView<const float>(logits.data(), 4, 2), {"roc_auc"}));
  CHECK(metric.value[kValidation] == 0.75);
  CHECK(std::isnan(metric.value[2]));
}

TEST_CASE("the area under the curve of multi-labels is the mean over columns") {
  nn::Targets targets = validation_rows(nn::Task::kMultiLabel, 4);
  targets.multi_labels = {0, 1, 0, 0, 1, 0, 1, 0};
  const std::vector<float> logits = {0.1F, 5.0F, 0.4F, 1.0F, 0.35F, 2.0F, 0.8F, 3.0F};
  const auto metric = only_metric(
      train::score_outputs(world(), targets, {}, MatrixView<const float>(logits.data(), 4, 2), {"roc_auc"}));
  CHECK(metric.value[kValidation] == (0.75 + 1.0) / 2);
}

TEST_CASE("metrics of another task, unknown, twice or none are input errors") {
  for (const auto task :
       {nn::Task::kSingleLabel, nn::Task::kMultiLabel, nn::Task::kSquaredError, nn::Task::kAbsoluteError}) {
    CHECK_NOTHROW(train::check_metrics(train::default_metrics(task), task, 3));
  }
  CHECK(train::default_metrics(nn::Task::kAbsoluteError)[0] == "mae");
  CHECK(train::default_metrics(nn::Task::kSquaredError)[0] == "mse");
  CHECK_NOTHROW(train::check_metrics({"roc_auc"}, nn::Task::kSingleLabel, 2));
  CHECK_THROWS_AS(train::check_metrics({"roc_auc"}, nn::Task::kSingleLabel, 3), halo::InputError);
  CHECK_THROWS_AS(train::check_metrics({"accuracy"}, nn::Task::kMultiLabel, 3), halo::InputError);
  CHECK_THROWS_AS(train::check_metrics({"f1"}, nn::Task::kMultiLabel, 3), halo::InputError);
  CHECK_THROWS_AS(train::check_metrics({}, nn::Task::kMultiLabel, 3), halo::InputError);
  CHECK_THROWS_WITH_AS(train::check_metrics({"mse", "mse"}, nn::Task::kSquaredError, 1),
                       doctest::Contains("twice"), halo::InputError);
}
