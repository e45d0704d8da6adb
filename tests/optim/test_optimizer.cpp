#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "halo/base/error.hpp"
#include "halo/optim/optimizer.hpp"

namespace optim = halo::optim;
using Vector = std::vector<double>;

TEST_CASE("sgd steps against the gradient, weight decay only where asked") {
  const auto sgd =
      optim::make_optimizer<double>({.name = "sgd", .learning_rate = 0.5, .weight_decay = 0.1}, 3, {{1, 2}});
  Vector parameters = {1.0, 2.0, 4.0};
  sgd->step(parameters, Vector{1.0, 0.0, -2.0});
  CHECK(parameters[0] == doctest::Approx(0.5));
  CHECK(parameters[1] == doctest::Approx(1.9));
  CHECK(parameters[2] == doctest::Approx(5.0));
}

TEST_CASE("adam's first step is the learning rate in the direction of the gradient, whatever its size") {
  const auto adam = optim::make_optimizer<double>({.name = "adam", .learning_rate = 0.1}, 3, {});
  Vector parameters = {0.0, 0.0, 0.0};
  adam->step(parameters, Vector{1e-3, -1e3, 0.0});
  CHECK(parameters[0] == doctest::Approx(-0.1).epsilon(1e-4));
  CHECK(parameters[1] == doctest::Approx(0.1));
  CHECK(parameters[2] == 0.0);
}

TEST_CASE("adam's second step, by hand") {
  const auto adam =
      optim::make_optimizer<double>({.name = "adam", .learning_rate = 0.1, .weight_decay = 1.0}, 1, {{0, 1}});
  Vector parameters = {1.0};
  adam->step(parameters, Vector{1.0});  // g = 2
  const double after_one = 1.0 - 0.1 * 2.0 / (2.0 + 1e-8);
  CHECK(parameters[0] == doctest::Approx(after_one));
  adam->step(parameters, Vector{0.0});  // g = after_one
  const double mean = (0.9 * 0.2 + 0.1 * after_one) / (1 - 0.81);
  const double square = (0.999 * 0.004 + 0.001 * after_one * after_one) / (1 - 0.998001);
  CHECK(parameters[0] == doctest::Approx(after_one - 0.1 * mean / (std::sqrt(square) + 1e-8)));
}

TEST_CASE("bad options are input errors") {
  const auto make = [](const optim::OptimizerOptions& options) {
    optim::make_optimizer<float>(options, 1, {});
  };
  CHECK_THROWS_AS(make({.name = "lion"}), halo::InputError);
  CHECK_THROWS_AS(make({.learning_rate = 0.0}), halo::InputError);
  CHECK_THROWS_AS(make({.learning_rate = std::numeric_limits<double>::quiet_NaN()}), halo::InputError);
  CHECK_THROWS_AS(make({.weight_decay = -1.0}), halo::InputError);
}
