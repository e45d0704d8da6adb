#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "support/mpi_world.hpp"

namespace halo::testing {

/// A temporary folder that rank 0 makes and removes. Collective.
class SharedFolder {
 public:
  SharedFolder() {
    const auto here =
        std::filesystem::temp_directory_path() / ("halo_test_dist_" + std::to_string(::getpid()));
    path_ = world().broadcast(here.string(), 0);
    if (world().rank() == 0) std::filesystem::create_directories(path_);
    world().barrier();
  }
  ~SharedFolder() {
    world().barrier();
    if (world().rank() == 0) std::filesystem::remove_all(path_);
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace halo::testing
