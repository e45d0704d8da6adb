#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace halo {

/// Folders of the memory control groups of a process, its own first, then those around it. `text`: what
/// /proc/self/cgroup holds, of version 1, 2 or both; `mount`: where the groups are mounted.
std::vector<std::filesystem::path> memory_groups(const std::string& text, const std::filesystem::path& mount);

/// Bytes that a group lets its processes take beside what they have; file cache that can be dropped counts
/// as free. Nothing where the folder is no memory group or has no limit.
std::optional<std::int64_t> free_in_group(const std::filesystem::path& group);

/// MemAvailable of the text of /proc/meminfo; nothing if it is not there.
std::optional<std::int64_t> available_memory(const std::string& meminfo);

/// A bound on what the processes of a machine or a control group may still take together.
struct FreeMemory {
  std::string of;  ///< "the machine" or "control group DIR"
  std::int64_t bytes = 0;
};
/// Every bound on this process, now.
std::vector<FreeMemory> free_memory();

/// Resident set of this process now, bytes.
std::int64_t resident_bytes();

}  // namespace halo
