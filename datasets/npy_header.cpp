// The header of a .npy file: 6 bytes of magic, 2 of version, the length L of the text (2 bytes in version 1,
// 4 later, little-endian), and L bytes of a Python dict literal with the keys descr, fortran_order and shape.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>

#include "halo/base/error.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/datasets/npy_array.hpp"

namespace halo::datasets {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxDimensions = 64;

[[noreturn]] void refuse(const std::string& where, const std::string& found, const std::string& expected) {
  throw InputError({.what = "not a .npy file this program can read",
                    .where = where,
                    .found = found,
                    .expected = expected,
                    .next = "write it again with numpy.save()"});
}

/// Just enough of Python's literals: strings, True / False, tuples of integers.
class DictReader {
 public:
  DictReader(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  bool accept(char wanted) {
    skip_space();
    if (position_ >= text_.size() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail(fmt::format("'{}'", wanted));
  }
  std::string string() {
    skip_space();
    const char quote = position_ < text_.size() ? text_[position_] : '\0';
    if (quote != '\'' && quote != '"') fail("a quoted string");
    const auto end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) fail("the end of a string");
    std::string value(text_.substr(position_ + 1, end - position_ - 1));
    position_ = end + 1;
    return value;
  }
  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(position_).starts_with(word)) {
        position_ += word.size();
        return value;
      }
    }
    fail("True or False");
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!accept(')')) {
      if (values.size() == kMaxDimensions) fail(fmt::format("at most {} dimensions", kMaxDimensions));
      values.push_back(integer());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }
  void expect_end() {
    skip_space();
    if (position_ != text_.size()) fail("nothing after the dict");
  }
  [[noreturn]] void fail(const std::string& expected) const {
    refuse(where_, fmt::format("header text \"{}\"", text_.substr(0, 200)),
           fmt::format("{} at character {}", expected, position_));
  }

 private:
  void skip_space() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])))
      ++position_;
  }
  std::int64_t integer() {
    skip_space();
    std::int64_t value = 0;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) fail("a length from 0 to 2^63 - 1");
    position_ += static_cast<std::size_t>(end - begin);
    if (position_ < text_.size() && text_[position_] == 'L') ++position_;  // Python 2 wrote long integers so
    return value;
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t position_ = 0;
};

void parse_dtype(const std::string& text, NpyHeader& header, const std::string& where) {
  const auto unsupported = [&] {
    refuse(where, fmt::format("dtype {}", text), "float16/32/64, int8..64, uint8..64 or bool");
  };
  if (text.size() != 3 || std::string_view("<>|=").find(text[0]) == std::string_view::npos) unsupported();
  header.kind = text[1];
  header.item_size = text[2] - '0';
  header.big_endian = text[0] == '>';
  const std::string_view sizes = header.kind == 'f'                         ? "248"
                                 : header.kind == 'i' || header.kind == 'u' ? "1248"
                                 : header.kind == 'b'                       ? "1"
                                                                            : "";
  if (sizes.find(text[2]) == std::string_view::npos) unsupported();
  if (text[0] == '|' && header.item_size > 1) unsupported();
}

/// The shape is an unchecked number of the file: its product must fit before anybody allocates by it.
void check_shape(const NpyHeader& header, const std::string& where) {
  std::int64_t bytes = header.item_size;
  for (const std::int64_t length : header.shape) {
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(length, 1), &bytes)) {
      refuse(where, fmt::format("shape {}", format_shape(header.shape)), "fewer than 2^63 bytes");
    }
  }
}

NpyHeader parse_dict(std::string_view text, const std::string& where) {
  NpyHeader header;
  DictReader reader(text, where);
  bool has_descr = false, has_order = false, has_shape = false;
  reader.expect('{');
  while (!reader.accept('}')) {
    const std::string key = reader.string();
    reader.expect(':');
    bool& seen = key == "descr" ? has_descr : key == "fortran_order" ? has_order : has_shape;
    if (seen || (&seen == &has_shape && key != "shape"))
      reader.fail("descr, fortran_order and shape, once each");
    seen = true;
    if (key == "descr") {
      if (reader.accept('[')) refuse(where, "a structured array", "an array of plain numbers");
      parse_dtype(reader.string(), header, where);
    } else if (key == "fortran_order") {
      header.fortran_order = reader.boolean();
    } else {
      header.shape = reader.tuple();
    }
    if (!reader.accept(',')) {
      reader.expect('}');
      break;
    }
  }
  reader.expect_end();
  if (!has_descr || !has_order || !has_shape) reader.fail("descr, fortran_order and shape");
  check_shape(header, where);
  return header;
}

}  // namespace

std::int64_t NpyHeader::size() const {
  std::int64_t product = 1;
  for (const std::int64_t length : shape) product *= length;
  return product;
}

std::int64_t NpyHeader::row_items() const {
  std::int64_t product = 1;
  for (std::size_t axis = 1; axis < shape.size(); ++axis) product *= shape[axis];
  return product;
}

std::string NpyHeader::dtype() const {
  return fmt::format("{}{}{}", item_size == 1 ? '|' : big_endian ? '>' : '<', kind, item_size);
}

std::string format_shape(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

NpyHeader parse_npy_header(std::span<const std::byte> start, const std::string& where) {
  const std::string_view bytes(reinterpret_cast<const char*>(start.data()), start.size());
  if (bytes.size() < 10 || !bytes.starts_with(kMagic))
    refuse(where, "no NumPy magic at its start", "\\x93NUMPY");
  const auto byte_at = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
  };
  const auto major = byte_at(6);
  if (major < 1 || major > 3 || byte_at(7) != 0) {
    refuse(where, fmt::format("format version {}.{}", major, byte_at(7)), "version 1.0, 2.0 or 3.0");
  }
  const std::size_t prefix = major == 1 ? 10 : 12;
  if (bytes.size() < prefix) refuse(where, fmt::format("{} bytes", bytes.size()), "a whole header");
  std::size_t length = byte_at(8) | byte_at(9) << 8;
  if (major > 1) length |= byte_at(10) << 16 | byte_at(11) << 24;
  if (length > bytes.size() - prefix) {
    refuse(where, fmt::format("{} bytes left for a header of {} bytes", bytes.size() - prefix, length),
           "a whole header of at most 1 MiB");
  }
  NpyHeader header = parse_dict(bytes.substr(prefix, length), where);
  header.data_offset = static_cast<std::int64_t>(prefix + length);
  return header;
}

std::string make_npy_header(const std::string& dtype, std::span<const std::int64_t> shape) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", dtype,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr std::size_t kPrefix = 10;
  text.append(63 - (kPrefix + text.size()) % 64, ' ');
  text += '\n';
  std::string header(kMagic);
  header += {'\x01', '\x00', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace halo::datasets
