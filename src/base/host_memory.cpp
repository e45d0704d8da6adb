#include "halo/base/host_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>

namespace halo {
namespace {

namespace fs = std::filesystem;

/// Empty where the file cannot be read. Files of /proc and of control groups have no length.
std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<std::int64_t> leading_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

/// The number behind `key` at the beginning of a line.
std::optional<std::int64_t> number_of(const std::string& text, std::string_view key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t digits = line.find_first_of("0123456789", key.size());
    if (digits != std::string::npos) return leading_number(std::string_view(line).substr(digits));
  }
  return std::nullopt;
}

void add_with_parents(const fs::path& mount, const std::string& group, std::vector<fs::path>& groups) {
  for (fs::path path = fs::path(group).relative_path();; path = path.parent_path()) {
    groups.push_back(path.empty() ? mount : mount / path);
    if (path.empty()) return;
  }
}

}  // namespace

std::vector<fs::path> memory_groups(const std::string& text, const fs::path& mount) {
  std::vector<fs::path> groups;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {  // "number:controllers:path"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers.find(",memory,") != std::string::npos) add_with_parents(mount / "memory", path, groups);
    if (controllers == ",,") add_with_parents(mount, path, groups);
  }
  return groups;
}

std::optional<std::int64_t> free_in_group(const fs::path& group) {
  const bool unified = fs::exists(group / "memory.max");
  const auto limit = leading_number(read_text(group / (unified ? "memory.max" : "memory.limit_in_bytes")));
  const auto used = leading_number(read_text(group / (unified ? "memory.current" : "memory.usage_in_bytes")));
  constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;  // version 1 says so with a huge number
  if (!limit || !used || *limit >= kUnlimited) return std::nullopt;
  const auto cache =
      number_of(read_text(group / "memory.stat"), unified ? "inactive_file " : "total_inactive_file ");
  return std::max<std::int64_t>(0, *limit - *used + cache.value_or(0));
}

std::optional<std::int64_t> available_memory(const std::string& meminfo) {
  const auto kilobytes = number_of(meminfo, "MemAvailable:");
  if (!kilobytes) return std::nullopt;
  return *kilobytes * 1024;
}

std::vector<FreeMemory> free_memory() {
  std::vector<FreeMemory> bounds;
  if (const auto bytes = available_memory(read_text("/proc/meminfo")))
    bounds.push_back({"the machine", *bytes});
  for (const fs::path& group : memory_groups(read_text("/proc/self/cgroup"), "/sys/fs/cgroup")) {
    if (const auto bytes = free_in_group(group))
      bounds.push_back({"control group " + group.string(), *bytes});
  }
  return bounds;
}

std::int64_t resident_bytes() {
  std::istringstream pages(read_text("/proc/self/statm"));
  std::int64_t size = 0, resident = 0;
  pages >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace halo
