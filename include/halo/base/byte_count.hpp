#pragma once

#include <cstdint>
#include <string>

namespace halo {

/// Bytes of "4G", "512M", "1.5GiB", "3e9" or "100000": K, M, G, T and KiB ... TiB are powers of 1024, KB ...
/// TB powers of 1000. InputError, naming `where`, on anything else, 0, a negative number or one beyond 2^63.
std::int64_t parse_byte_count(const std::string& text, const std::string& where);

/// "1.50 GiB", "17.0 MiB", "12 KiB": three digits that count.
std::string format_byte_count(std::int64_t bytes);

}  // namespace halo
