#include <doctest/doctest.h>

#include <vector>

#include "halo/train/gradient_clipping.hpp"

namespace train = halo::train;

TEST_CASE("a gradient longer than the limit keeps its direction and gets the limit's length") {
  std::vector<double> gradient = {3.0, 0.0, -4.0};
  const double squares = train::sum_of_squares<double>(gradient);
  CHECK(squares == 25.0);
  CHECK(train::clip_gradient<double>(gradient, squares, 1.0) == 5.0);
  CHECK(gradient[0] == doctest::Approx(0.6).epsilon(1e-6));
  CHECK(gradient[1] == 0.0);
  CHECK(gradient[2] == doctest::Approx(-0.8).epsilon(1e-6));
}

TEST_CASE("a shorter gradient, and one of zeros, stay as they are") {
  std::vector<float> gradient = {3.0F, -4.0F};
  CHECK(train::clip_gradient<float>(gradient, 25.0, 5.1) == 5.0);
  CHECK(gradient == std::vector<float>{3.0F, -4.0F});
  std::vector<float> zeros(3, 0.0F);
  CHECK(train::clip_gradient<float>(zeros, train::sum_of_squares<float>(zeros), 1e-3) == 0.0);
  CHECK(zeros == std::vector<float>(3, 0.0F));
}

TEST_CASE("pieces of one gradient are scaled alike by the length of the whole") {
  std::vector<double> first = {3.0};
  std::vector<double> second = {4.0};
  const double squares = train::sum_of_squares<double>(first) + train::sum_of_squares<double>(second);
  train::clip_gradient<double>(first, squares, 2.5);
  train::clip_gradient<double>(second, squares, 2.5);
  CHECK(first[0] == doctest::Approx(1.5).epsilon(1e-6));
  CHECK(second[0] == doctest::Approx(2.0).epsilon(1e-6));
}

TEST_CASE("squares of floats are added in double") {
  const std::vector<float> gradient(1000, 1e-3F);
  const double square = static_cast<double>(1e-3F) * static_cast<double>(1e-3F);
  CHECK(train::sum_of_squares<float>(gradient) == doctest::Approx(1000 * square).epsilon(1e-13));
}
