#include "halo/base/byte_count.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "halo/base/error.hpp"

namespace halo {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
};
constexpr std::array<Unit, 13> kUnits = {{{"", 1.0},
                                          {"K", 0x1p10},
                                          {"M", 0x1p20},
                                          {"G", 0x1p30},
                                          {"T", 0x1p40},
                                          {"KiB", 0x1p10},
                                          {"MiB", 0x1p20},
                                          {"GiB", 0x1p30},
                                          {"TiB", 0x1p40},
                                          {"KB", 1e3},
                                          {"MB", 1e6},
                                          {"GB", 1e9},
                                          {"TB", 1e12}}};

/// Negative: the text is no amount of bytes.
double bytes_of(const std::string& text) {
  double number = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return -1.0;
  const std::string_view rest(stop, static_cast<std::size_t>(end - stop));
  for (const Unit& unit : kUnits) {
    if (rest == unit.name) return number * unit.bytes;
  }
  return -1.0;
}

}  // namespace

std::int64_t parse_byte_count(const std::string& text, const std::string& where) {
  const double bytes = bytes_of(text);
  if (bytes >= 1.0 && bytes < 0x1p63) return static_cast<std::int64_t>(bytes);
  throw InputError({.what = "not an amount of memory",
                    .where = where,
                    .found = text,
                    .expected = "a number of bytes above 0, with K, M, G or T (of 1024), KB ... TB (of 1000)",
                    .next = "write 4G or 512M, say"});
}

std::string format_byte_count(std::int64_t bytes) {
  constexpr std::array<const char*, 5> kNames = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; std::abs(value) >= 1000.0 && unit + 1 < kNames.size(); ++unit) value /= 1024.0;
  const int digits = unit == 0 || std::abs(value) >= 99.95 ? 0 : std::abs(value) >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, digits, kNames[unit]);
}

}  // namespace halo
