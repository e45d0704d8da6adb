#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <limits>

#include "dist/shared_folder.hpp"
#include "halo/dist/load_partition.hpp"
#include "halo/mpi/communicator.hpp"
#include "support/mpi_world.hpp"
#include "support/small_graphs.hpp"
#include "support/small_partition.hpp"

using halo::testing::SmallPartition;
using halo::testing::world;
using Path = std::filesystem::path;

namespace {

constexpr int kParts = 6;

SmallPartition sound() {
  return halo::testing::make_small_partition(halo::testing::random_graph(30, 0.2, true, 9), kParts);
}

/// Writes what `spoil` leaves of a sound partition, then lets `damage` at the files (both on rank 0), loads
/// it on all ranks and returns the message, which must be the same InputError everywhere.
std::string message_of(const std::function<void(SmallPartition&)>& spoil,
                       const std::function<void(const Path&)>& damage) {
  const halo::testing::SharedFolder folder;
  if (world().rank() == 0) {
    SmallPartition partition = sound();
    if (spoil) spoil(partition);
    halo::testing::write_small_partition(folder.path(), partition);
    if (damage) damage(folder.path());
  }
  world().barrier();
  std::string message;
  try {
    halo::dist::load_partition(world(), folder.path());
    FAIL_CHECK("a bad partition was loaded");
  } catch (const halo::InputError& error) {
    message = error.what();
    CHECK(halo::mpi::is_agreed(error));
  }
  CHECK(world().broadcast(message, 0) == message);
  return message;
}

void check_contains(const std::string& message, std::initializer_list<const char*> texts) {
  INFO(message);
  for (const char* text : texts) {
    INFO(text);
    CHECK(message.find(text) != std::string::npos);
  }
}

void change_byte(const Path& file, std::streamoff from_end) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(-from_end, std::ios::end);
  const int byte = stream.get();
  stream.seekp(-from_end, std::ios::end);
  stream.put(static_cast<char>(byte ^ 0x40));
}

}  // namespace

TEST_CASE("a folder that is not there, or unfinished, or no partition") {
  check_contains(message_of({}, [](const Path& folder) { std::filesystem::remove_all(folder); }),
                 {"no such folder"});
  check_contains(
      message_of({}, [](const Path& folder) { std::filesystem::remove(folder / "partition.json"); }),
      {"unfinished", "partition.json"});
  check_contains(message_of({}, [](const Path& folder) { std::ofstream(folder / "partition.json") << "{]"; }),
                 {"not JSON"});
}

TEST_CASE("a file that is missing or cut") {
  check_contains(message_of({}, [](const Path& folder) { std::filesystem::remove(folder / "labels.npy"); }),
                 {"labels.npy is missing"});
  check_contains(message_of({},
                            [](const Path& folder) {
                              const Path file = folder / "indices.npy";
                              std::filesystem::resize_file(file, std::filesystem::file_size(file) - 5);
                            }),
                 {"indices.npy", "bytes"});
  check_contains(
      message_of({}, [](const Path& folder) { std::filesystem::remove(folder / "tile_offsets.npy"); }),
      {"tile_offsets.npy is missing"});
}

TEST_CASE("a changed byte is found by the rank that owns the part, in every sliced file") {
  for (const char* name :
       {"indptr.npy", "indices.npy", "features.npy", "labels.npy", "split.npy", "original_id.npy"}) {
    INFO(name);
    // The last byte but one of indptr is a high one of the last offset, which rank 0 reads beforehand.
    const std::string message = message_of({}, [&](const Path& folder) { change_byte(folder / name, 1); });
    check_contains(message, {name});
    if (std::string(name) == "indptr.npy") continue;
    check_contains(message, {"damaged or from another run", "slice of part 5"});
    if (world().size() > 1) check_contains(message, {("rank " + std::to_string(world().size() - 1)).c_str()});
  }
}

TEST_CASE("files of another run mixed in") {
  const auto take_from_other = [](const std::string& name) {
    return [name](const Path& folder) {
      const Path other = folder / "other";
      auto partition =
          halo::testing::make_small_partition(halo::testing::random_graph(30, 0.2, true, 9), kParts);
      partition.labels[7] = 3;
      partition.part_offsets[1] -= 1;
      partition.tile_offsets = halo::testing::tile_offsets_of(partition.part_offsets, 4);
      partition.group_offsets =
          halo::testing::group_offsets_of(partition.part_offsets, partition.tile_offsets, 2);
      halo::testing::write_small_partition(other, partition);
      std::filesystem::copy_file(other / name, folder / name,
                                 std::filesystem::copy_options::overwrite_existing);
    };
  };
  for (const char* name : {"labels.npy", "checksums.npy", "part_offsets.npy"}) {
    check_contains(message_of({}, take_from_other(name)), {name, "from another run"});
  }
}

TEST_CASE("a sliced file whose own header says another type") {
  check_contains(message_of({},
                            [](const Path& folder) {
                              std::fstream stream(folder / "labels.npy",
                                                  std::ios::in | std::ios::out | std::ios::binary);
                              std::string header(128, ' ');
                              stream.read(header.data(), 128);
                              stream.seekp(static_cast<std::streamoff>(header.find("<i4")));
                              stream << "<f4";
                            }),
                 {"labels.npy is not the array", "<f4"});
}

TEST_CASE("sound checksums around contents that cannot be") {
  using Partition = SmallPartition;
  check_contains(message_of([](Partition& p) { p.in.indices.back() = 30; }, {}),
                 {"indices.npy", "neighbour 30"});
  check_contains(message_of([](Partition& p) { p.in.indices.front() = -1; }, {}),
                 {"indices.npy", "neighbour -1"});
  check_contains(message_of([](Partition& p) { std::swap(p.in.indices[0], p.in.indices[1]); }, {}),
                 {"indices.npy", "not ascending"});
  check_contains(message_of([](Partition& p) { p.in.indptr[2] = p.in.indptr[4]; }, {}),
                 {"indptr.npy", "not ascending"});
  check_contains(message_of([](Partition& p) { p.labels[29] = 4; }, {}), {"labels.npy", "4 at row 29"});
  check_contains(message_of([](Partition& p) { p.labels[3] = -2; }, {}), {"labels.npy", "-2 at row 3"});
  check_contains(message_of([](Partition& p) { p.split[11] = 4; }, {}), {"split.npy", "4 at row 11"});
  check_contains(
      message_of([](Partition& p) { p.features[61] = std::numeric_limits<float>::quiet_NaN(); }, {}),
      {"features.npy", "nan at row 20, column 1"});
  check_contains(message_of([](Partition& p) { p.original_id[29] = 30; }, {}),
                 {"original_id.npy", "30 at row 29"});
}

TEST_CASE("labels and links that the task does not allow") {
  const auto as = [](const char* task) {
    return [task](SmallPartition& p) {
      p.task = task;
      p.multi_labels.assign(120, 1);
      p.multi_labels[81] = 2;
      p.values.assign(120, 1.0F);
      p.values[42] = std::numeric_limits<float>::infinity();
      p.links[1] = {{0, 7, 8, 9}, {1, 8, 9, 30}};
      p.link_offsets = {std::vector<std::int64_t>{0, 0, 0, 0, 0, 0, 0}, {0, 0, 2, 2, 2, 2, 2}};
    };
  };
  check_contains(message_of(as("multi_label"), {}), {"labels.npy", "2 at row 20, column 1"});
  check_contains(message_of(as("node_regression"), {}), {"labels.npy", "inf at row 10, column 2"});
  check_contains(message_of(as("link_prediction"), {}), {"test_links.npy", "[1, 8, 9, 30]"});
  check_contains(message_of(
                     [&](SmallPartition& p) {
                       as("link_prediction")(p);
                       p.links[1][1] = {1, 13, 9, 9};  // of another part
                     },
                     {}),
                 {"test_links.npy", "[5, 10)"});
  check_contains(message_of(
                     [&](SmallPartition& p) {
                       as("link_prediction")(p);
                       p.links[1][1] = {2, 8, 9, 9};  // of two
                     },
                     {}),
                 {"test_links.npy", "[2, 8, 9, 9]", "a place in [0, 2)"});
  check_contains(message_of(as("clustering"), {}), {"task", "clustering"});
}

TEST_CASE("offsets that do not cover the graph or cut a part") {
  check_contains(message_of([](SmallPartition& p) { p.tile_offsets[1] = 0; }, {}),
                 {"tile_offsets.npy", "ascending"});
  check_contains(message_of([](SmallPartition& p) { p.tile_offsets[2] = 6; }, {}),
                 {"tile_offsets.npy", "crosses a part"});
  check_contains(message_of([](SmallPartition& p) { p.group_offsets.back() += 1; }, {}),
                 {"group_offsets.npy", "does not cover"});
  check_contains(
      message_of([](SmallPartition& p) { p.group_offsets.erase(p.group_offsets.begin() + 1); }, {}),
      {"group_offsets.npy", "crosses a part"});
}

TEST_CASE("fewer parts than ranks: the message says the largest number of ranks") {
  if (world().size() == 1) return;
  const int parts = world().size() - 1;
  const std::string message = message_of(
      [parts](SmallPartition& p) { p = halo::testing::make_small_partition(halo::testing::star(9), parts); },
      {});
  check_contains(message, {"more ranks than parts", ("at most " + std::to_string(parts) + " ranks").c_str()});
}
