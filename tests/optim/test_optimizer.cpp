#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "halo/base/error.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/optim/optimizer.hpp"

namespace optim = halo::optim;
using Vector = std::vector<double>;

TEST_CASE("sgd steps against the gradient, weight decay only where asked") {
  const auto sgd =
      optim::make_optimizer<double>({.name = "sgd", .learning_rate = 0.5, .weight_decay = 0.1}, 3, {{1, 2}});
  Vector parameters = {1.0, 2.0, 4.0};
  sgd->step(parameters, Vector{1.0, 0.0, -2.0}, 0.5);
  CHECK(parameters[0] == doctest::Approx(0.5));
  CHECK(parameters[1] == doctest::Approx(1.9));
  CHECK(parameters[2] == doctest::Approx(5.0));
}

TEST_CASE("adam's first step is the learning rate in the direction of the gradient, whatever its size") {
  const auto adam = optim::make_optimizer<double>({.name = "adam", .learning_rate = 0.1}, 3, {});
  Vector parameters = {0.0, 0.0, 0.0};
  adam->step(parameters, Vector{1e-3, -1e3, 0.0}, 0.1);
  CHECK(parameters[0] == doctest::Approx(-0.1).epsilon(1e-4));
  CHECK(parameters[1] == doctest::Approx(0.1));
  CHECK(parameters[2] == 0.0);
}

TEST_CASE("adam's second step, by hand") {
  const auto adam =
      optim::make_optimizer<double>({.name = "adam", .learning_rate = 0.1, .weight_decay = 1.0}, 1, {{0, 1}});
  Vector parameters = {1.0};
  adam->step(parameters, Vector{1.0}, 0.1);  // g = 2
  const double after_one = 1.0 - 0.1 * 2.0 / (2.0 + 1e-8);
  CHECK(parameters[0] == doctest::Approx(after_one));
  adam->step(parameters, Vector{0.0}, 0.1);  // g = after_one
  const double mean = (0.9 * 0.2 + 0.1 * after_one) / (1 - 0.81);
  const double square = (0.999 * 0.004 + 0.001 * after_one * after_one) / (1 - 0.998001);
  CHECK(parameters[0] == doctest::Approx(after_one - 0.1 * mean / (std::sqrt(square) + 1e-8)));
}

TEST_CASE("adamw's first step shrinks the parameter apart from the gradient") {
  const auto adamw = optim::make_optimizer<double>({.name = "adamw", .weight_decay = 0.5}, 2, {{0, 1}});
  Vector parameters = {4.0, 4.0};
  adamw->step(parameters, Vector{-3.0, -3.0}, 0.1);
  CHECK(parameters[0] == doctest::Approx(4.0 * 0.95 + 0.1));
  CHECK(parameters[1] == doctest::Approx(4.0 + 0.1));
}

TEST_CASE("momentum and Nesterov's step, by hand") {
  for (const bool nesterov : {false, true}) {
    CAPTURE(nesterov);
    const auto sgd =
        optim::make_optimizer<double>({.name = "sgd", .momentum = 0.5, .nesterov = nesterov}, 1, {});
    Vector parameters = {0.0};
    sgd->step(parameters, Vector{1.0}, 1.0);  // velocity 1
    CHECK(parameters[0] == (nesterov ? -1.5 : -1.0));
    sgd->step(parameters, Vector{2.0}, 1.0);  // velocity 2.5
    CHECK(parameters[0] == (nesterov ? -1.5 - 3.25 : -1.0 - 2.5));
  }
}

namespace {

/// Twelve steps of make_optimizer_series.py in Real: the largest difference from torch's parameters.
template <typename Real>
double largest_difference(const optim::OptimizerOptions& options, const std::string& file) {
  const auto expected = halo::datasets::read_npy<double>(HALO_OPTIM_DATA "/optimizer_" + file + ".npy");
  const auto optimizer = optim::make_optimizer<Real>(options, 5, {{1, 4}});
  std::vector<Real> parameters = {1.0, -2.0, 0.5, 0.25, -0.125};
  double largest = 0.0;
  for (std::size_t step = 1; step <= expected.size() / 5; ++step) {
    std::vector<Real> gradient(5);
    for (std::size_t k = 0; k < 5; ++k) {
      gradient[k] = Real{0.5} * parameters[k] + static_cast<Real>(std::sin(static_cast<double>(step + k)));
    }
    optimizer->step(parameters, gradient, step < 7 ? 0.05 : 0.025);
    for (std::size_t k = 0; k < 5; ++k) {
      const double difference = static_cast<double>(parameters[k]) - expected[5 * (step - 1) + k];
      largest = std::max(largest, std::abs(difference));
    }
  }
  return largest;
}

}  // namespace

TEST_CASE("twelve steps of every optimiser are torch's") {
  const auto check = [](const optim::OptimizerOptions& options, const std::string& file) {
    CAPTURE(file);
    CHECK(largest_difference<double>(options, file) < 1e-13);
    CHECK(largest_difference<float>(options, file) < 2e-6);
  };
  for (const std::string name : {"adam", "adamw"}) {
    check({.name = name, .weight_decay = 0.1, .beta1 = 0.8, .beta2 = 0.98, .epsilon = 1e-6}, name);
  }
  check({.name = "sgd", .weight_decay = 0.1}, "sgd");
  check({.name = "sgd", .weight_decay = 0.1, .momentum = 0.9}, "momentum");
  check({.name = "sgd", .weight_decay = 0.1, .momentum = 0.9, .nesterov = true}, "nesterov");
}

TEST_CASE("each range may have its own share of the weight decay") {
  const auto sgd = optim::make_optimizer<double>({.name = "sgd", .weight_decay = 0.5}, 4,
                                                 {{.begin = 2, .end = 3, .factor = 0.5}, {0, 1}});
  Vector parameters = {8.0, 8.0, 8.0, 8.0};
  sgd->step(parameters, Vector(4, 0.0), 1.0);
  CHECK(parameters == Vector{4.0, 8.0, 6.0, 8.0});
}

TEST_CASE("elements behind the optimiser's are left alone") {
  for (const std::string name : {"adam", "adamw", "sgd"}) {
    const auto optimizer =
        optim::make_optimizer<double>({.name = name, .weight_decay = 0.1, .momentum = 0.5}, 2, {{0, 2}});
    Vector parameters = {1.0, 1.0, 7.0};
    optimizer->step(parameters, Vector{1.0, 1.0, 1.0}, 0.1);
    CHECK(parameters[1] != 1.0);
    CHECK(parameters[2] == 7.0);
  }
}

TEST_CASE("an optimiser with another's state and steps goes on bit for bit") {
  for (const std::string name : {"adam", "adamw", "sgd"}) {
    CAPTURE(name);
    const optim::OptimizerOptions options = {.name = name, .weight_decay = 0.1, .momentum = 0.9};
    const auto first = optim::make_optimizer<float>(options, 2, {{0, 2}});
    const auto second = optim::make_optimizer<float>(options, 2, {{0, 2}});
    std::vector<float> parameters = {1.0F, -3.0F};
    for (int step = 0; step < 3; ++step) first->step(parameters, std::vector{0.3F, -0.7F}, 0.1);
    const auto from = first->state();
    const auto to = second->state();
    REQUIRE(from.size() == to.size());
    REQUIRE(!from.empty());
    for (std::size_t k = 0; k < from.size(); ++k) {
      CHECK(from[k].name == to[k].name);
      std::copy(from[k].values.begin(), from[k].values.end(), to[k].values.begin());
    }
    second->set_steps(first->steps());
    CHECK(second->steps() == 3);
    std::vector<float> copy = parameters;
    first->step(parameters, std::vector{0.1F, 0.2F}, 0.05);
    second->step(copy, std::vector{0.1F, 0.2F}, 0.05);
    CHECK(parameters == copy);
  }
}

TEST_CASE("without momentum there is nothing to remember") {
  CHECK(optim::make_optimizer<float>({.name = "sgd"}, 3, {})->state().empty());
}

TEST_CASE("bad options are input errors") {
  const auto make = [](const optim::OptimizerOptions& options) {
    optim::make_optimizer<float>(options, 1, {});
  };
  CHECK_THROWS_AS(make({.name = "lion"}), halo::InputError);
  CHECK_THROWS_AS(make({.learning_rate = 0.0}), halo::InputError);
  CHECK_THROWS_AS(make({.learning_rate = std::numeric_limits<double>::quiet_NaN()}), halo::InputError);
  CHECK_THROWS_AS(make({.weight_decay = -1.0}), halo::InputError);
  CHECK_THROWS_AS(make({.beta1 = 1.0}), halo::InputError);
  CHECK_THROWS_AS(make({.beta2 = -0.1}), halo::InputError);
  CHECK_THROWS_AS(make({.epsilon = -1e-8}), halo::InputError);
  CHECK_THROWS_AS(make({.name = "sgd", .momentum = -0.5}), halo::InputError);
  CHECK_THROWS_AS(make({.name = "sgd", .nesterov = true}), halo::InputError);
}

TEST_CASE("ranges of weight decay that overlap or leave the buffer are refused") {
  const auto make = [](const std::vector<optim::FlatRange>& decayed) {
    optim::make_optimizer<float>({}, 4, decayed);
  };
  CHECK_NOTHROW(make({{0, 2}, {2, 4}}));
  CHECK_THROWS_AS(make({{0, 3}, {2, 4}}), halo::Error);
  CHECK_THROWS_AS(make({{3, 5}}), halo::Error);
  CHECK_THROWS_AS(make({{-1, 2}}), halo::Error);
}
