#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "halo/base/counter_rng.hpp"
#include "halo/base/exact_sum.hpp"

namespace {

using halo::exact_add;
using halo::exact_limb_count;
using halo::exact_merge;
using halo::exact_values;
using Limbs = std::vector<std::int64_t>;

Limbs empty_limbs(std::int64_t sums) {
  return Limbs(static_cast<std::size_t>(exact_limb_count(sums)), 0);
}

template <typename Real>
Limbs limbs_of(const std::vector<Real>& terms) {
  Limbs limbs = empty_limbs(1);
  for (const Real& term : terms) exact_add<Real>(std::span(&term, 1), 0, 1, limbs);
  return limbs;
}

template <typename Real>
Real value_of(const Limbs& limbs) {
  Real value = 0;
  exact_values<Real>(limbs, 0, 1, std::span(&value, 1));
  return value;
}

std::vector<float> wild_terms(std::size_t count) {
  halo::RandomStream random(7);
  std::vector<float> terms;
  for (std::size_t i = 0; i < count; ++i) {
    const auto exponent = static_cast<int>(random.below(60)) - 40;
    terms.push_back(static_cast<float>(std::ldexp(random.uniform() - 0.5, exponent)));
  }
  return terms;
}

}  // namespace

TEST_CASE("sums of floats are exact where doubles would round") {
  CHECK(value_of<float>(limbs_of<float>({1.0F, 0x1.0p-60F, -1.0F})) == 0x1.0p-60F);
  CHECK(value_of<double>(limbs_of<double>({0x1.0p31, 0x1.0p-50, -0x1.0p31})) == 0x1.0p-50);
  CHECK(value_of<float>(limbs_of<float>({})) == 0.0F);
  CHECK(value_of<float>(limbs_of<float>({-0.125F, -0.25F})) == -0.375F);
}

TEST_CASE("any order and any grouping give the same limbs") {
  std::vector<float> terms = wild_terms(2000);
  const Limbs forward = limbs_of(terms);
  Limbs halves = limbs_of(std::vector<float>(terms.begin(), terms.begin() + 700));
  exact_merge(limbs_of(std::vector<float>(terms.begin() + 700, terms.end())), halves);
  std::reverse(terms.begin(), terms.end());
  CHECK(limbs_of(terms) == forward);
  CHECK(halves == forward);
  // A plain float sum depends on the order for these terms, so the test above says something.
  float plain_forward = 0.0F;
  float plain_backward = 0.0F;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    plain_backward += terms[i];
    plain_forward += terms[terms.size() - 1 - i];
  }
  CHECK(plain_forward != plain_backward);
}

TEST_CASE("the value agrees with a long double sum") {
  const std::vector<float> terms = wild_terms(5000);
  long double sum = 0.0L;
  for (const float term : terms) sum += static_cast<long double>(term);
  CHECK(value_of<double>(limbs_of(terms)) == doctest::Approx(static_cast<double>(sum)).epsilon(1e-15));
}

TEST_CASE("many sums at once, added in pieces at an offset") {
  constexpr std::int64_t kSums = 1300;  // more than one internal block
  std::vector<float> terms = wild_terms(kSums);
  Limbs whole = empty_limbs(kSums);
  exact_add<float>(terms, 0, kSums, whole);
  Limbs pieces = empty_limbs(kSums);
  exact_add<float>(std::span<const float>(terms).subspan(700), 700, kSums, pieces);
  exact_add<float>(std::span<const float>(terms).first(700), 0, kSums, pieces);
  CHECK(pieces == whole);
  std::vector<float> values(kSums);
  exact_values<float>(whole, 0, kSums, values);
  CHECK(values == terms);
  std::vector<float> some(3);
  exact_values<float>(whole, 900, kSums, some);
  CHECK(some == std::vector<float>(terms.begin() + 900, terms.begin() + 903));
  // One term each, none below 2^-64: nothing lost
}

TEST_CASE("a term that is not finite or too large turns every sum into NaN") {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(), 0x1.0p32F}) {
    Limbs limbs = empty_limbs(2);
    const std::vector<float> terms = {1.0F, bad};
    exact_add<float>(terms, 0, 2, limbs);
    std::vector<float> values(2);
    exact_values<float>(limbs, 0, 2, values);
    CHECK(std::isnan(values[0]));
    CHECK(std::isnan(values[1]));
  }
}

TEST_CASE("many large terms do not overflow") {
  Limbs limbs = empty_limbs(1);
  const std::vector<double> term = {0x1.fffffp31};
  exact_add<double>(term, 0, 1, limbs);
  for (int doubling = 0; doubling < 22; ++doubling) exact_merge(Limbs(limbs), limbs);
  CHECK(value_of<double>(limbs) == std::ldexp(term[0], 22));
}
