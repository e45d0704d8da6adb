#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "halo/kernels/half_rows.hpp"
#include "isas.hpp"
#include "matrices.hpp"
#include "row_loops.hpp"

namespace halo::kernels {
namespace {

using test::Matrix;

float rounded(float x) {
  Matrix<float> whole(1, 1);
  whole(0, 0) = x;
  Matrix<float> packed(1, 1);
  pack_half<float>(whole.view(), packed.view());
  unpack_half<float>(packed.view(), whole.view());
  return whole(0, 0);
}

TEST_CASE("half rows: bfloat16 by hand") {
  // 8 bits of significand: neighbours of 1 are 2^-7 apart above and 2^-8 below.
  for (const float exact : {0.0F, -0.0F, 1.0F, -1.0F, 1.0078125F, 0.99609375F, 0x1p-126F, 0x1p127F}) {
    CHECK(std::bit_cast<std::uint32_t>(rounded(exact)) == std::bit_cast<std::uint32_t>(exact));
  }
  CHECK(rounded(1.0F + 0x1p-8F) == 1.0F);                // a tie goes to the even one, below
  CHECK(rounded(1.0F + 3 * 0x1p-8F) == 1.0F + 0x1p-6F);  // and above
  CHECK(rounded(1.0F + 0x1p-8F + 0x1p-23F) == 1.0F + 0x1p-7F);
  CHECK(rounded(-1.0F - 0x1p-8F - 0x1p-23F) == -1.0F - 0x1p-7F);
  CHECK(rounded(1.0F + 0x1p-8F - 0x1p-23F) == 1.0F);
  CHECK(rounded(1.9999999F) == 2.0F);
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(rounded(infinity) == infinity);
  CHECK(rounded(-infinity) == -infinity);
  CHECK(rounded(std::numeric_limits<float>::max()) == infinity);
  // A NaN whose upper half alone would be infinity, and one that rounding would make zero.
  for (const std::uint32_t bits : {0x7F800001U, 0xFF800001U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
    CHECK(std::isnan(rounded(std::bit_cast<float>(bits))));
  }
}

TEST_CASE("half rows: double is rounded to float") {
  Matrix<double> x(1, 3), packed(1, 2), y(1, 3);
  x(0, 0) = 0.1;
  x(0, 1) = -1e300;
  x(0, 2) = 1.0;
  pack_half<double>(x.view(), packed.view());
  unpack_half<double>(packed.view(), y.view());
  CHECK(y(0, 0) == static_cast<double>(0.1F));
  CHECK(y(0, 1) == -std::numeric_limits<double>::infinity());
  CHECK(y(0, 2) == 1.0);
}

TEST_CASE_TEMPLATE("half rows: every instruction set gives the same bits, rounded once", Real, float,
                   double) {
  for (std::int64_t cols = 1; cols <= 70; ++cols) {
    CAPTURE(cols);
    Matrix<Real> x(5, cols, cols % 3, cols % 5);
    x.randomise(static_cast<std::uint64_t>(cols));
    Matrix<Real> expected(5, half_cols(cols));
    const auto& portable = internal::row_loops_portable<Real>();
    portable.pack_half(x.view(), expected.view());
    for (const VectorIsa isa : test::usable_isas()) {
      CAPTURE(to_string(isa));
      const auto& loops = internal::row_loops<Real>(isa);
      Matrix<Real> packed(5, half_cols(cols), 1, 1);
      Matrix<Real> back(5, cols, 2, 1);
      Matrix<Real> again(5, half_cols(cols));
      loops.pack_half(x.view(), packed.view());
      CHECK(test::count_different(packed, expected) == 0);
      CHECK(packed.overwritten() == 0);
      loops.unpack_half(packed.view(), back.view());
      CHECK(back.overwritten() == 0);
      loops.pack_half(back.view(), again.view());
      CHECK(test::count_different(again, expected) == 0);
      const double unit = std::is_same_v<Real, float> ? 0x1p-8 : 0x1p-24;
      for (std::int64_t r = 0; r < 5; ++r) {
        for (std::int64_t c = 0; c < cols; ++c) {
          const auto value = static_cast<double>(x(r, c));
          CHECK(std::abs(static_cast<double>(back(r, c)) - value) <= unit * std::abs(value));
        }
      }
    }
  }
}

}  // namespace
}  // namespace halo::kernels
