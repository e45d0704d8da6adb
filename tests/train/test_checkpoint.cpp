#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <vector>

#include "dist/shared_folder.hpp"
#include "halo/base/error.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/train/checkpoint.hpp"
#include "support/mpi_world.hpp"

namespace train = halo::train;
namespace fs = std::filesystem;
using halo::NodeId;
using halo::testing::world;

namespace {

constexpr NodeId kNodes = 23;
constexpr std::int64_t kCols = 3;

train::NodeSlice even_slice() {
  const NodeId size = world().size();
  return {.num_nodes = kNodes,
          .owned = {kNodes * world().rank() / size, kNodes * (world().rank() + 1) / size}};
}

/// The last rank has everything, as another number of ranks would have cut it.
train::NodeSlice lopsided_slice() {
  const bool last = world().rank() == world().size() - 1;
  return {.num_nodes = kNodes, .owned = {0, last ? kNodes : 0}};
}

/// What a small run keeps; `salt` tells one epoch from another.
struct Contents {
  explicit Contents(const train::NodeSlice& slice, float salt = 0.0F)
      : weights(40), rows(static_cast<std::size_t>(slice.owned.size() * kCols)) {
    std::iota(weights.begin(), weights.end(), salt);
    std::iota(rows.begin(), rows.end(), salt + static_cast<float>(slice.owned.begin * kCols));
  }
  train::CheckpointArrays arrays() {
    return {.whole = {{"weights", weights}}, .sharded = {{"rows", kCols, rows}}};
  }
  std::vector<float> weights;
  std::vector<float> rows;
};

std::string write(const train::CheckpointFolder& folder, std::int64_t epoch, std::int64_t keep = 2) {
  Contents contents(even_slice(), static_cast<float>(epoch));
  return folder.write(epoch, {{"epoch", epoch}, {"loss", 0.1}}, contents.arrays(), keep);
}

/// On rank 0, between barriers.
void by_rank_0(const std::function<void()>& work) {
  world().barrier();
  if (world().rank() == 0) work();
  world().barrier();
}

void flip_last_byte(const fs::path& file) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(-1, std::ios::end);
  const char byte = static_cast<char>(stream.get() ^ 1);
  stream.seekp(-1, std::ios::end);
  stream.put(byte);
}

}  // namespace

TEST_CASE("a checkpoint comes back, and its rows to whatever ranks own them then") {
  const halo::testing::SharedFolder folder;
  const auto path = folder.path() / "checkpoints";
  const train::CheckpointFolder checkpoints(world(), path, even_slice());
  CHECK(checkpoints.epochs().empty());
  CHECK(checkpoints.read_newest([](const nlohmann::json&) { return train::CheckpointArrays{}; }).is_null());
  CHECK(write(checkpoints, 5).empty());
  for (const train::NodeSlice& slice : {even_slice(), lopsided_slice()}) {
    Contents found(slice, -100.0F);
    const auto state = train::CheckpointFolder(world(), path, slice).read_newest([&](const nlohmann::json&) {
      return found.arrays();
    });
    CHECK(state["epoch"] == 5);
    CHECK(state["loss"] == 0.1);
    const Contents expected(slice, 5.0F);
    CHECK(found.weights == expected.weights);
    CHECK(found.rows == expected.rows);
  }
  const auto rows = halo::datasets::read_npy<float>(path / "epoch-000005" / "rows.npy");
  REQUIRE(rows.size() == static_cast<std::size_t>(kNodes * kCols));
  CHECK(rows.front() == 5.0F);
  CHECK(rows.back() == 5.0F + static_cast<float>(kNodes * kCols - 1));
}

TEST_CASE("the newest are kept, and leftovers of killed or damaged ones go") {
  const halo::testing::SharedFolder folder;
  const train::CheckpointFolder checkpoints(world(), folder.path() / "c", even_slice());
  for (const std::int64_t epoch : {2, 4, 6}) CHECK(write(checkpoints, epoch).empty());
  CHECK(checkpoints.epochs() == std::vector<std::int64_t>{6, 4});
  by_rank_0([&] {
    fs::create_directories(folder.path() / "c" / ".epoch-000007.tmp");
    fs::create_directories(folder.path() / "c" / "epoch-000009");
    fs::create_directories(folder.path() / "c" / "something else");
  });
  CHECK(write(checkpoints, 8, 3).empty());
  CHECK(checkpoints.epochs() == std::vector<std::int64_t>{8, 6, 4});
  CHECK(!fs::exists(folder.path() / "c" / ".epoch-000007.tmp"));
  CHECK(fs::exists(folder.path() / "c" / "something else"));
  CHECK(write(checkpoints, 8, 1).empty());  // over the one of the same epoch
  CHECK(checkpoints.epochs() == std::vector<std::int64_t>{8});
}

TEST_CASE("a damaged checkpoint gives way to the one before") {
  const std::vector<std::function<void(const fs::path&)>> damages = {
      [](const fs::path& newest) { flip_last_byte(newest / "rows.npy"); },
      [](const fs::path& newest) { flip_last_byte(newest / "weights.npy"); },
      [](const fs::path& newest) {
        fs::resize_file(newest / "rows.npy", fs::file_size(newest / "rows.npy") - 1);
      },
      [](const fs::path& newest) { fs::resize_file(newest / "state.json", 30); },
      [](const fs::path& newest) { fs::remove(newest / "weights.npy"); },
      [](const fs::path& newest) { fs::remove(newest / "rows.npy"); },
      [](const fs::path& newest) { fs::remove(newest / "state.json"); },
      [](const fs::path& newest) { fs::rename(newest / "rows.npy", newest / "weights.npy"); }};
  for (std::size_t k = 0; k < damages.size(); ++k) {
    CAPTURE(k);
    const halo::testing::SharedFolder folder;
    const train::CheckpointFolder checkpoints(world(), folder.path() / "c", even_slice());
    CHECK(write(checkpoints, 3).empty());
    CHECK(write(checkpoints, 6).empty());
    by_rank_0([&] { damages[k](folder.path() / "c" / "epoch-000006"); });
    Contents found(even_slice(), -100.0F);
    const auto state = checkpoints.read_newest([&](const nlohmann::json&) { return found.arrays(); });
    CHECK(state["epoch"] == 3);
    CHECK(found.weights == Contents(even_slice(), 3.0F).weights);
    CHECK(found.rows == Contents(even_slice(), 3.0F).rows);
  }
}

TEST_CASE("a checkpoint of something else is refused, not passed over") {
  const halo::testing::SharedFolder folder;
  const train::CheckpointFolder checkpoints(world(), folder.path() / "c", even_slice());
  CHECK(write(checkpoints, 3).empty());
  CHECK(write(checkpoints, 6).empty());
  const auto refuse = [](const nlohmann::json& state) -> train::CheckpointArrays {
    throw halo::InputError({.what = "another model",
                            .where = "",
                            .found = state.at("epoch").dump(),
                            .expected = "",
                            .next = ""});
  };
  CHECK_THROWS_WITH_AS(checkpoints.read_newest(refuse), doctest::Contains("6"), halo::InputError);
}

TEST_CASE("a checkpoint that cannot be written is text on every rank, and the earlier ones stay") {
  const halo::testing::SharedFolder folder;
  const train::CheckpointFolder checkpoints(world(), folder.path() / "c", even_slice());
  CHECK(write(checkpoints, 3, 1).empty());
  by_rank_0([&] { std::ofstream(folder.path() / "c" / ".epoch-000006.tmp") << "x"; });
  Contents contents(even_slice());
  train::CheckpointArrays arrays = contents.arrays();
  arrays.sharded.front().name = "no/such/folder/rows";
  const std::string failure = checkpoints.write(6, {{"epoch", 6}}, arrays, 1);
  CHECK(failure.find("no/such/folder") != std::string::npos);
  CHECK(checkpoints.epochs() == std::vector<std::int64_t>{3});
  CHECK(!fs::exists(folder.path() / "c" / ".epoch-000006.tmp"));
}
