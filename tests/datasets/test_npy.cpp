#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "halo/datasets/npy.hpp"
#include "halo/datasets/npy_array.hpp"
#include "temporary_folder.hpp"

namespace halo::datasets {
namespace {

/// The start of a file with any version and text, without padding.
std::string header_bytes(const std::string& text, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {version, '\0', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  if (version > 1) bytes += std::string(2, '\0');
  return bytes + text;
}

std::string dict(const std::string& descr, bool fortran, const std::string& shape) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", descr,
                     fortran ? "True" : "False", shape);
}

/// An unsigned number as `size` bytes in the asked order.
std::string number(std::uint64_t value, int size, bool big) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * (big ? size - 1 - i : i)));
  return bytes;
}

std::string parse_error(const std::string& bytes) {
  return input_error_of([&] { parse_npy_header(std::as_bytes(std::span(bytes)), "some file"); });
}

NpyArray array_of(const std::string& bytes) {
  const auto raw = std::as_bytes(std::span(bytes));
  return NpyArray(hold_bytes({raw.begin(), raw.end()}, "array"));
}

}  // namespace

TEST_CASE("headers of versions 1 to 3 and free spelling are read") {
  for (const char version : {'\1', '\2', '\3'}) {
    const std::string bytes = header_bytes(dict(">i2", true, "(3, 4)"), version);
    const NpyHeader header = parse_npy_header(std::as_bytes(std::span(bytes)), "f");
    CHECK(header.shape == std::vector<std::int64_t>{3, 4});
    CHECK(header.fortran_order);
    CHECK(header.dtype() == ">i2");
    CHECK(header.data_offset == static_cast<std::int64_t>(bytes.size()));
  }
  const std::string free = header_bytes("{ \"shape\":(7L,),\"fortran_order\" : False ,\"descr\":\"|u1\"}");
  CHECK(parse_npy_header(std::as_bytes(std::span(free)), "f").shape == std::vector<std::int64_t>{7});
  const std::string scalar = header_bytes(dict("<f8", false, "()"));
  CHECK(parse_npy_header(std::as_bytes(std::span(scalar)), "f").size() == 1);
}

TEST_CASE("malformed headers are refused by name") {
  const std::string shape = "(2,)";
  CHECK(contains(parse_error(""), "magic"));
  CHECK(contains(parse_error("PK\3\4 and more text"), "some file"));
  CHECK(contains(parse_error(header_bytes(dict("<f4", false, shape), '\4')), "version 4"));
  CHECK(contains(parse_error(header_bytes(dict("<f4", false, shape)).substr(0, 30)), "whole header"));
  for (const char* descr : {"<c8", "|O", "<U5", "<f3", "<f16", "|i4", "f4", "<b2", "?"}) {
    CAPTURE(descr);
    CHECK(contains(parse_error(header_bytes(dict(descr, false, shape))), "dtype"));
  }
  CHECK(
      contains(parse_error(header_bytes("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}")),
               "structured"));
  for (const char* text :
       {"", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2.5,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,", "{'descr': '<f4"}) {
    CAPTURE(text);
    CHECK(contains(parse_error(header_bytes(text)), "some file"));
  }
}

TEST_CASE("a shape whose product overflows is refused before anything is allocated") {
  CHECK(contains(parse_error(header_bytes(dict("<f4", false, "(4294967296, 4294967296)"))), "2^63"));
  CHECK(contains(parse_error(header_bytes(dict("<f8", false, "(1152921504606846976,)"))), "2^63"));
  CHECK(contains(parse_error(header_bytes(dict("<f4", false, "(0, 4294967296, 4294967296)"))), "2^63"));
  const std::string lie = header_bytes(dict("<f4", false, "(1000000000000000,)")) + std::string(8, 'x');
  CHECK(contains(input_error_of([&] { array_of(lie); }), "wrong length"));
}

TEST_CASE("a header longer than usual is read whole") {
  for (const char version : {'\1', '\3'}) {
    const std::string text =
        "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }" + std::string(20000, ' ');
    const std::string bytes = header_bytes(text, version) + number(42, 4, false);
    CHECK(array_of(bytes).read<std::int32_t>()[0] == 42);
  }
  const std::string text =
      "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }" + std::string(65536, ' ');
  std::string bytes = header_bytes(text, '\2') + number(42, 4, false);
  bytes[10] = 1;  // the third byte of the length
  CHECK(array_of(bytes).read<std::int32_t>()[0] == 42);
}

TEST_CASE("a file that is cut or too long is refused") {
  const std::string whole = header_bytes(dict("<f4", false, "(2, 3)")) + std::string(24, '\0');
  CHECK(array_of(whole).header().size() == 6);
  CHECK(contains(input_error_of([&] { array_of(whole.substr(0, whole.size() - 1)); }), "wrong length"));
  CHECK(contains(input_error_of([&] { array_of(whole + "x"); }), "wrong length"));
  CHECK(contains(input_error_of([&] { read_npy_header("/no/such/file.npy"); }), "/no/such/file.npy"));
  CHECK(contains(input_error_of([&] { read_npy_header("/tmp"); }), "regular file"));
}

TEST_CASE("every integer type and byte order is read") {
  for (const int size : {1, 2, 4, 8}) {
    for (const char kind : {'i', 'u'}) {
      for (const bool big : {false, true}) {
        const std::string descr = fmt::format("{}{}{}", size == 1 ? '|' : big ? '>' : '<', kind, size);
        CAPTURE(descr);
        const auto minus_two = static_cast<std::uint64_t>(-2);
        const std::string bytes = header_bytes(dict(descr, false, "(3,)")) + number(0, size, big) +
                                  number(100, size, big) + number(kind == 'i' ? minus_two : 7, size, big);
        const std::vector<std::int64_t> expected{0, 100, kind == 'i' ? -2 : 7};
        CHECK(array_of(bytes).read<std::int64_t>() == expected);
        CHECK(array_of(bytes).read<double>() == std::vector<double>(expected.begin(), expected.end()));
      }
    }
  }
  CHECK(array_of(header_bytes(dict("|b1", false, "(2,)")) + std::string("\0\1", 2)).read<std::uint8_t>() ==
        std::vector<std::uint8_t>{0, 1});
}

TEST_CASE("every float type and byte order is read") {
  for (const bool big : {false, true}) {
    const char order = big ? '>' : '<';
    const auto single = std::bit_cast<std::uint32_t>(-1.5F);
    const auto twice = std::bit_cast<std::uint64_t>(-1.5);
    const auto file = [&](int size, std::uint64_t bits) {
      return header_bytes(dict(fmt::format("{}f{}", order, size), false, "(1,)")) + number(bits, size, big);
    };
    CHECK(array_of(file(4, single)).read<float>()[0] == -1.5F);
    CHECK(array_of(file(8, twice)).read<float>()[0] == -1.5F);
    CHECK(array_of(file(4, single)).read<double>()[0] == -1.5);
    // Halves by hand: 1, -2, largest, smallest normal, smallest subnormal, zeros, infinity.
    const std::vector<std::pair<std::uint64_t, double>> halves = {
        {0x3C00, 1.0},     {0xC000, -2.0},
        {0x7BFF, 65504.0}, {0x0400, 0x1p-14},
        {0x0001, 0x1p-24}, {0x03FF, 1023 * 0x1p-24},
        {0x0000, 0.0},     {0x7C00, std::numeric_limits<double>::infinity()}};
    for (const auto& [bits, value] : halves) CHECK(array_of(file(2, bits)).read<double>()[0] == value);
    CHECK(std::signbit(array_of(file(2, 0x8000)).read<float>()[0]));
    CHECK(std::isnan(array_of(file(2, 0x7E00)).read<float>()[0]));
  }
}

TEST_CASE("values that do not fit are refused with their place") {
  const auto doubles = [](double a, double b) {
    return array_of(header_bytes(dict("<f8", false, "(1, 2)")) +
                    number(std::bit_cast<std::uint64_t>(a), 8, false) +
                    number(std::bit_cast<std::uint64_t>(b), 8, false));
  };
  CHECK(doubles(-0.0, 127).read<std::int8_t>() == std::vector<std::int8_t>{0, 127});
  CHECK(doubles(0, -0x1p63).read<std::int64_t>()[1] == std::numeric_limits<std::int64_t>::min());
  for (const double bad :
       {0.5, 128.0, -129.0, 1e300, std::nan(""), std::numeric_limits<double>::infinity()}) {
    CAPTURE(bad);
    CHECK(contains(input_error_of([&] { doubles(1, bad).read<std::int8_t>(); }), "row 0, item 1"));
  }
  CHECK_FALSE(input_error_of([&] { doubles(1, 0x1p63).read<std::int64_t>(); }).empty());
  CHECK_FALSE(input_error_of([&] { doubles(1, -1).read<std::uint64_t>(); }).empty());
  CHECK_FALSE(input_error_of([&] { doubles(1, 1e300).read<float>(); }).empty());
  CHECK(std::isinf(doubles(1, std::numeric_limits<double>::infinity()).read<float>()[1]));
  const auto big = array_of(header_bytes(dict("<u8", false, "(1,)")) + number(1ULL << 63, 8, false));
  CHECK_FALSE(input_error_of([&] { big.read<std::int64_t>(); }).empty());
  CHECK(big.read<std::uint64_t>()[0] == 1ULL << 63);
}

TEST_CASE("slices of Fortran and C order agree") {
  // a[i][j][k] = 100 i + 10 j + k of shape [4, 3, 2], once in each order.
  std::string c_bytes = header_bytes(dict("<i2", false, "(4, 3, 2)"));
  std::string f_bytes = header_bytes(dict("<i2", true, "(4, 3, 2)"));
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned j = 0; j < 3; ++j)
      for (unsigned k = 0; k < 2; ++k) c_bytes += number(100 * i + 10 * j + k, 2, false);
  for (unsigned k = 0; k < 2; ++k)
    for (unsigned j = 0; j < 3; ++j)
      for (unsigned i = 0; i < 4; ++i) f_bytes += number(100 * i + 10 * j + k, 2, false);
  const NpyArray c = array_of(c_bytes), f = array_of(f_bytes);
  CHECK(c.read<std::int32_t>() == f.read<std::int32_t>());
  for (const RowRange rows : {RowRange{0, 1}, RowRange{1, 3}, RowRange{3, 4}, RowRange{2, 2}}) {
    std::vector<float> from_c(static_cast<std::size_t>(rows.size()) * 6, -1), from_f(from_c);
    c.read_rows<float>(rows, from_c);
    f.read_rows<float>(rows, from_f);
    CHECK(from_c == from_f);
    if (!rows.empty()) CHECK(from_c[0] == static_cast<float>(100 * rows.begin));
  }
  std::vector<float> out(6);
  CHECK_THROWS_AS(c.read_rows<float>({3, 5}, out), Error);
  CHECK_THROWS_AS(c.read_rows<float>({0, 2}, out), Error);
}

TEST_CASE("long conversions cross the reader's chunks") {
  TemporaryFolder folder;
  std::vector<std::int64_t> values(300001);
  std::iota(values.begin(), values.end(), -5);
  write_npy<std::int64_t>(folder / "a.npy", values, std::vector<std::int64_t>{300001});
  const auto read = read_npy<std::int32_t>(folder / "a.npy");
  CHECK(std::equal(values.begin(), values.end(), read.begin(), read.end()));
}

TEST_CASE("written files carry the standard header and appear only when whole") {
  TemporaryFolder folder;
  const std::vector<std::int64_t> shape{2, 2};
  const std::vector<float> values{1, 2, 3, 4};
  write_npy<float>(folder / "a.npy", values, shape);
  const std::string bytes = read_bytes(folder / "a.npy");
  CHECK(bytes.size() == 128 + 16);
  CHECK(bytes.substr(10, 59) == "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }");
  CHECK(bytes[127] == '\n');
  CHECK(read_npy<float>(folder / "a.npy") == values);
  CHECK(make_npy_header("<f8", std::vector<std::int64_t>{5}).find("(5,)") != std::string::npos);

  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(folder.path()),
                         std::filesystem::directory_iterator());
  };
  {
    NpyWriter writer(folder / "b.npy", "<f4", shape);
    writer.write(std::span<const float>(values).first(3));
    CHECK_THROWS_AS(writer.finish(), Error);
    CHECK(files() == 2);  // the temporary one
  }
  CHECK(files() == 1);
  {
    NpyWriter writer(folder / "b.npy", "<f4", std::vector<std::int64_t>{1});
    CHECK_THROWS_AS(writer.write(std::span<const float>(values)), Error);
  }
  CHECK(files() == 1);
  write_npy<float>(folder / "empty.npy", {}, std::vector<std::int64_t>{0, 3});
  CHECK(read_npy<float>(folder / "empty.npy").empty());
  CHECK(read_npy_header(folder / "empty.npy").row_items() == 3);
}

TEST_CASE("errors of the system carry its reason and the path") {
  const std::vector<float> values(10);
  try {
    write_npy<float>("/no/such/folder/a.npy", values, std::vector<std::int64_t>{10});
    FAIL("written into a folder that is not there");
  } catch (const Error& error) {
    CHECK(contains(error.what(), "/no/such/folder/a.npy: No such file"));
  }
}

}  // namespace halo::datasets
