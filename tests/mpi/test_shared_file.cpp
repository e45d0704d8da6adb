#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "halo/mpi/shared_file.hpp"
#include "support/mpi_world.hpp"

using halo::testing::world;

namespace {

/// A file of the bytes 0, 1, 2, ... that rank 0 writes and removes.
class NumberedFile {
 public:
  explicit NumberedFile(std::size_t bytes) {
    path_ = world().broadcast(
        (std::filesystem::temp_directory_path() / ("halo_shared_file_" + std::to_string(::getpid())))
            .string(),
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

std::string message_of(const halo::mpi::SharedFile& file, std::int64_t offset, std::span<std::byte> bytes) {
  try {
    file.read_at_all(offset, bytes);
  } catch (const halo::InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("each rank reads its own slice, one of them an empty one") {
  const NumberedFile numbers(40);
  const halo::mpi::SharedFile file(world(), numbers.path());
  std::vector<std::byte> bytes(world().rank() == 1 ? 0 : 10);
  file.read_at_all(10 * (world().rank() % 4), std::span<std::byte>(bytes));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    CHECK(bytes[i] == static_cast<std::byte>(10 * static_cast<std::size_t>(world().rank() % 4) + i));
  }
  std::vector<std::int32_t> words(2);
  file.read_at_all<std::int32_t>(4, words);
  CHECK(words[0] == 0x07060504);
}

TEST_CASE(
    "a slice past the end is the same error on every rank and names the rank, the file and the offset") {
  const NumberedFile numbers(40);
  const halo::mpi::SharedFile file(world(), numbers.path());
  const halo::Rank bad = world().size() - 1;
  std::vector<std::byte> bytes(10);
  const std::string message = message_of(file, world().rank() == bad ? 35 : 0, bytes);
  CHECK(message.find(numbers.path().string() + ", offset 35") != std::string::npos);
  CHECK(message.find("a file of 40 bytes") != std::string::npos);
  if (world().size() > 1) CHECK(message.find("rank " + std::to_string(bad) + " on host") == 0);
  CHECK(world().broadcast(message, 0) == message);
  CHECK(message_of(file, 0, bytes).empty());  // the file is still good for others
}

TEST_CASE("a file that is not there is an InputError on every rank") {
  CHECK_THROWS_AS(halo::mpi::SharedFile(world(), "/nonexistent/file.npy"), halo::InputError);
}
