#include <doctest/doctest.h>

#include <string>

#include "halo/base/byte_count.hpp"
#include "halo/base/error.hpp"

using halo::format_byte_count;
using halo::parse_byte_count;

TEST_CASE("amounts of memory are read in the units that people write") {
  CHECK(parse_byte_count("1", "--x") == 1);
  CHECK(parse_byte_count("100000", "--x") == 100000);
  CHECK(parse_byte_count("4G", "--x") == (std::int64_t{4} << 30));
  CHECK(parse_byte_count("512M", "--x") == (std::int64_t{512} << 20));
  CHECK(parse_byte_count("1.5GiB", "--x") == (std::int64_t{3} << 29));
  CHECK(parse_byte_count("2KB", "--x") == 2000);
  CHECK(parse_byte_count("0.5K", "--x") == 512);
  CHECK(parse_byte_count("3e9", "--x") == 3'000'000'000);
  CHECK(parse_byte_count("1T", "--x") == (std::int64_t{1} << 40));
}

TEST_CASE("what is no amount of memory is refused by name") {
  for (const char* text : {"", "G", "0", "0.5", "-1", "-4G", "4 G", "4g", "4X", "1.5.2", "nan", "inf",
                           "4GiBs", "9223372036854775808", "1e30", "9000000T"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(parse_byte_count(text, "--memory-limit"), doctest::Contains("--memory-limit"),
                         halo::InputError);
  }
}

TEST_CASE("amounts are written with three digits") {
  CHECK(format_byte_count(0) == "0 B");
  CHECK(format_byte_count(999) == "999 B");
  CHECK(format_byte_count(1536) == "1.50 KiB");
  CHECK(format_byte_count(std::int64_t{17} << 20) == "17.0 MiB");
  CHECK(format_byte_count(std::int64_t{300} << 30) == "300 GiB");
}
