#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "halo/mpi/file_slice.hpp"
#include "support/mpi_world.hpp"

using halo::testing::world;

namespace {

/// A file of the bytes 0, 1, 2, ... that rank 0 writes and removes.
class NumberedFile {
 public:
  explicit NumberedFile(std::size_t bytes) {
    path_ = world().broadcast(
        (std::filesystem::temp_directory_path() / ("halo_file_slice_" + std::to_string(::getpid()))).string(),
        0);
    if (world().rank() == 0) {
      std::ofstream stream(path_, std::ios::binary);
      for (std::size_t i = 0; i < bytes; ++i) stream.put(static_cast<char>(i));
    }
    world().barrier();
  }
  ~NumberedFile() {
    world().barrier();
    if (world().rank() == 0) std::filesystem::remove(path_);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string message_of(const std::filesystem::path& path, std::int64_t offset, std::span<std::byte> bytes,
                       const std::function<void()>& check = {}) {
  try {
    halo::mpi::read_slice(world(), path, offset, bytes, check);
  } catch (const halo::InputError& error) {
    CHECK(halo::mpi::is_agreed(error));
    CHECK(world().broadcast(error.what(), 0) == error.what());
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("each rank reads its own slice, one of them an empty one") {
  const NumberedFile numbers(50);
  std::vector<std::byte> bytes(world().rank() == 1 ? 0 : 10);
  const std::int64_t offset = 10 * world().rank();
  CHECK(message_of(numbers.path(), offset, bytes).empty());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    CHECK(bytes[i] == static_cast<std::byte>(static_cast<std::size_t>(offset) + i));
  }
}

TEST_CASE("all ranks may read the same bytes") {
  const NumberedFile numbers(50);
  std::vector<std::byte> bytes(50);
  CHECK(message_of(numbers.path(), 0, bytes).empty());
  CHECK(bytes[49] == std::byte{49});
}

TEST_CASE(
    "a slice past the end is the same error on every rank and names the rank, the file and the offset") {
  const NumberedFile numbers(40);
  const halo::Rank bad = world().size() - 1;
  for (const std::int64_t others : {0, 30}) {  // slices that overlap or end where the bad one ends
    std::vector<std::byte> bytes(10);
    const std::string message = message_of(numbers.path(), world().rank() == bad ? 35 : others, bytes);
    CHECK(message.find(numbers.path().string() + ", offset 35") != std::string::npos);
    CHECK(message.find("a file of 40 bytes") != std::string::npos);
    if (world().size() > 1) CHECK(message.find("rank " + std::to_string(bad) + " on host") == 0);
  }
}

TEST_CASE("a check that throws on one rank is the error of all") {
  const NumberedFile numbers(40);
  std::vector<std::byte> bytes(4);
  int checks = 0;
  const std::string message = message_of(numbers.path(), 0, bytes, [&] {
    ++checks;
    CHECK(bytes[3] == std::byte{3});
    if (world().rank() == world().size() - 1) throw halo::InputError("wrong bytes");
  });
  CHECK(checks == 1);
  CHECK(message.find("wrong bytes") != std::string::npos);
}

TEST_CASE("a file that is not there is an InputError on every rank") {
  std::vector<std::byte> bytes(4);
  CHECK(message_of("/nonexistent/file.npy", 0, bytes).find("file.npy cannot be read") != std::string::npos);
}
