#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "halo/base/host_memory.hpp"

namespace fs = std::filesystem;

namespace {

/// A folder with files of given text.
class Group {
 public:
  Group() : path_(fs::temp_directory_path() / ("halo_test_group_" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Group() { fs::remove_all(path_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("the groups of a process are found from the text of /proc/self/cgroup, with those around") {
  using Paths = std::vector<fs::path>;
  CHECK(halo::memory_groups("0::/slurm/job_7/step_0\n", "/cg") ==
        Paths{"/cg/slurm/job_7/step_0", "/cg/slurm/job_7", "/cg/slurm", "/cg"});
  CHECK(halo::memory_groups("5:cpu:/a\n4:memory:/jobs/b\n", "/cg") ==
        Paths{"/cg/memory/jobs/b", "/cg/memory/jobs", "/cg/memory"});
  CHECK(halo::memory_groups("4:cpuset,memory,io:/b\n0::/\n", "/cg") ==
        Paths{"/cg/memory/b", "/cg/memory", "/cg"});
  CHECK(halo::memory_groups("nonsense\n", "/cg").empty());
  CHECK(halo::memory_groups("", "/cg").empty());
}

TEST_CASE("a group of version 2 gives its limit less what is used and cannot be dropped") {
  const Group group;
  CHECK(!halo::free_in_group(group.path()));
  group.write("memory.max", "1000000\n");
  group.write("memory.current", "600000\n");
  CHECK(halo::free_in_group(group.path()) == 400000);
  group.write("memory.stat", "anon 300000\ninactive_file 200000\nactive_file 50000\n");
  CHECK(halo::free_in_group(group.path()) == 600000);
  group.write("memory.current", "1500000\n");  // above a limit that was lowered
  CHECK(halo::free_in_group(group.path()) == 0);
  group.write("memory.max", "max\n");
  CHECK(!halo::free_in_group(group.path()));
}

TEST_CASE("a group of version 1 has other names, and a huge number for no limit") {
  const Group group;
  group.write("memory.limit_in_bytes", "2000\n");
  group.write("memory.usage_in_bytes", "1500\n");
  group.write("memory.stat", "inactive_file 1\ntotal_inactive_file 100\n");
  CHECK(halo::free_in_group(group.path()) == 600);
  group.write("memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(!halo::free_in_group(group.path()));
}

TEST_CASE("the machine's free memory is what the kernel calls available") {
  CHECK(halo::available_memory("MemTotal:       24684092 kB\nMemFree: 5 kB\nMemAvailable:   22126948 kB\n") ==
        std::int64_t{22126948} * 1024);
  CHECK(!halo::available_memory("MemTotal: 5 kB\n"));
  CHECK(halo::resident_bytes() > 0);
  CHECK(!halo::free_memory().empty());
}
