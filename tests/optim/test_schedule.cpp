#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "halo/base/error.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/optim/schedule.hpp"

namespace optim = halo::optim;

namespace {

std::vector<double> read_series(const std::string& name) {
  return halo::datasets::read_npy<double>(HALO_OPTIM_DATA "/" + name + ".npy");
}

void check_series(const optim::ScheduleOptions& options, const std::string& name) {
  CAPTURE(name);
  const optim::LearningRateSchedule schedule(options, 0.1);
  const auto expected = read_series(name);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    CAPTURE(k);
    CHECK(schedule.learning_rate(static_cast<std::int64_t>(k) + 1) ==
          doctest::Approx(expected[k]).epsilon(1e-9));
  }
}

}  // namespace

TEST_CASE("a constant rate, after a linear warm-up that reaches it in its last epoch") {
  const optim::LearningRateSchedule plain({}, 0.25);
  CHECK(plain.learning_rate(1) == 0.25);
  CHECK(plain.learning_rate(1000) == 0.25);
  const optim::LearningRateSchedule warm({.warmup_epochs = 4}, 0.5);
  const double expected[] = {0.125, 0.25, 0.375, 0.5, 0.5, 0.5};
  for (std::int64_t epoch = 1; epoch <= 6; ++epoch) {
    CHECK(warm.learning_rate(epoch) == expected[epoch - 1]);
  }
}

TEST_CASE("step and cosine, with and without warm-up, are torch's") {
  for (const std::int64_t warmup : {0, 5}) {
    const std::string end = "_" + std::to_string(warmup);
    check_series({.name = "step", .warmup_epochs = warmup, .step_size = 7, .gamma = 0.6},
                 "schedule_step" + end);
    check_series({.name = "cosine", .warmup_epochs = warmup, .min_learning_rate = 0.001, .epochs = 60},
                 "schedule_cosine" + end);
  }
}

TEST_CASE("cosine stays at its end") {
  const optim::LearningRateSchedule cosine({.name = "cosine", .min_learning_rate = 0.01, .epochs = 10}, 1.0);
  CHECK(cosine.learning_rate(1) == 1.0);
  CHECK(cosine.learning_rate(6) == doctest::Approx(0.505));
  CHECK(cosine.learning_rate(11) == 0.01);
  CHECK(cosine.learning_rate(15) == 0.01);
}

TEST_CASE("a run that is all warm-up ends at the full rate") {
  const optim::LearningRateSchedule cosine({.name = "cosine", .warmup_epochs = 5, .epochs = 5}, 1.0);
  CHECK(cosine.learning_rate(5) == 1.0);
}

TEST_CASE("plateau is torch's on losses that fall, creep, are not finite and jump") {
  optim::LearningRateSchedule plateau(
      {.name = "plateau", .min_learning_rate = 1e-4, .plateau_patience = 3, .plateau_factor = 0.3}, 0.1);
  const auto losses = read_series("plateau_losses");
  const auto expected = read_series("schedule_plateau");
  REQUIRE(losses.size() == expected.size());
  for (std::size_t k = 0; k < losses.size(); ++k) {
    CAPTURE(k);
    CHECK(plateau.learning_rate(static_cast<std::int64_t>(k) + 1) ==
          doctest::Approx(expected[k]).epsilon(1e-9));
    plateau.observe(losses[k]);
  }
  CHECK(plateau.learning_rate(100) == doctest::Approx(1e-4));
}

TEST_CASE("a schedule with another's state goes on alike, even before the first finite loss") {
  const optim::ScheduleOptions options = {.name = "plateau", .plateau_patience = 1};
  optim::LearningRateSchedule first(options, 0.1);
  first.observe(std::numeric_limits<double>::infinity());
  for (const double loss : {std::numeric_limits<double>::quiet_NaN(), 3.0, 3.0, 3.0, 2.0, 2.5, 2.5}) {
    optim::LearningRateSchedule second(options, 0.1);
    second.set_state(first.state());
    first.observe(loss);
    second.observe(loss);
    CHECK(first.state() == second.state());
    CHECK(first.learning_rate(9) == second.learning_rate(9));
  }
  CHECK(first.learning_rate(9) == doctest::Approx(0.1 * 0.5 * 0.5 * 0.5));
}

TEST_CASE("what is not a state is refused") {
  optim::LearningRateSchedule schedule({}, 0.1);
  CHECK_THROWS_AS(schedule.set_state(std::vector<double>{0.1}), halo::Error);
  CHECK_THROWS_AS(
      schedule.set_state(std::vector<double>{std::numeric_limits<double>::infinity(), 1.0, 0.0, 0.0}),
      halo::Error);
}

TEST_CASE("bad options are input errors") {
  const auto make = [](const optim::ScheduleOptions& options) {
    const optim::LearningRateSchedule schedule(options, 0.1);
  };
  CHECK_THROWS_AS(make({.name = "linear"}), halo::InputError);
  CHECK_THROWS_AS(make({.warmup_epochs = -1}), halo::InputError);
  CHECK_THROWS_AS(make({.step_size = 0}), halo::InputError);
  CHECK_THROWS_AS(make({.gamma = 0.0}), halo::InputError);
  CHECK_THROWS_AS(make({.gamma = std::numeric_limits<double>::quiet_NaN()}), halo::InputError);
  CHECK_THROWS_AS(make({.min_learning_rate = 0.2}), halo::InputError);
  CHECK_THROWS_AS(make({.plateau_patience = -1}), halo::InputError);
  CHECK_THROWS_AS(make({.plateau_factor = 1.0}), halo::InputError);
  CHECK_THROWS_AS(optim::LearningRateSchedule({}, -1.0), halo::InputError);
}
