#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "dist/shared_folder.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/train/row_output.hpp"
#include "support/mpi_world.hpp"

namespace train = halo::train;
namespace fs = std::filesystem;
using halo::MatrixView;
using halo::NodeId;
using halo::testing::world;

namespace {

float value_of(NodeId id, std::int64_t col) {
  return static_cast<float>(id) + static_cast<float>(col) * 0.001F;
}

/// This rank's rows, the last node first: node k belongs to rank (5 k + 3) mod P, so to no rank's block, and
/// with few nodes some ranks own nothing.
struct Rows {
  Rows(NodeId nodes, std::int64_t cols_) : cols(cols_) {
    for (NodeId k = nodes - 1; k >= 0; --k) {
      if ((5 * k + 3) % world().size() != world().rank()) continue;
      ids.push_back(k);
      for (std::int64_t c = 0; c < cols; ++c) values.push_back(value_of(k, c));
    }
  }
  MatrixView<const float> view() const {
    return {values.data(), static_cast<std::int64_t>(ids.size()), cols};
  }

  std::int64_t cols;
  std::vector<NodeId> ids;
  std::vector<float> values;
};

bool nothing_left(const fs::path& folder) {
  world().barrier();
  return fs::is_empty(folder);
}

}  // namespace

TEST_CASE("rows land in the user's order, in one piece or many, whatever rank owns a node") {
  const halo::testing::SharedFolder folder;
  for (const NodeId nodes : {NodeId{0}, NodeId{1}, NodeId{2}, NodeId{3}, NodeId{97}}) {
    for (const std::int64_t cols : {1, 2, 5}) {
      for (const std::int64_t piece_bytes : {1, 48, 1 << 20}) {
        CAPTURE(nodes);
        CAPTURE(cols);
        CAPTURE(piece_bytes);
        const Rows rows(nodes, cols);
        const auto path = folder.path() / "rows.npy";
        train::write_node_rows(world(), path, nodes, rows.ids, rows.view(), piece_bytes);
        const auto header = halo::datasets::read_npy_header(path);
        CHECK(header.shape == std::vector<std::int64_t>{nodes, cols});
        CHECK(header.dtype() == "<f4");
        const auto written = halo::datasets::read_npy<float>(path);
        std::vector<float> expected;
        for (NodeId k = 0; k < nodes; ++k) {
          for (std::int64_t c = 0; c < cols; ++c) expected.push_back(value_of(k, c));
        }
        CHECK(written == expected);
        world().barrier();  // the next round replaces the file
      }
    }
  }
}

TEST_CASE("a view into wider rows is written without what is between") {
  const halo::testing::SharedFolder folder;
  const Rows rows(11, 4);
  const MatrixView<const float> two(rows.values.data() + 1, rows.view().rows, 2, 4);
  train::write_node_rows(world(), folder.path() / "rows.npy", 11, rows.ids, two);
  const auto written = halo::datasets::read_npy<float>(folder.path() / "rows.npy");
  REQUIRE(written.size() == 22);
  CHECK(written[7] == value_of(3, 2));
}

TEST_CASE("one integer for each node is an array of one axis") {
  const halo::testing::SharedFolder folder;
  const Rows rows(97, 1);
  std::vector<std::int32_t> values;
  for (const NodeId id : rows.ids) values.push_back(static_cast<std::int32_t>(id * id % 1000) - 500);
  const auto path = folder.path() / "values.npy";
  train::write_node_values<std::int32_t>(world(), path, 97, rows.ids, values, 40);
  CHECK(halo::datasets::read_npy_header(path).shape == std::vector<std::int64_t>{97});
  const auto written = halo::datasets::read_npy<std::int32_t>(path);
  for (NodeId k = 0; k < 97; ++k) CHECK(written[halo::at(k)] == k * k % 1000 - 500);
}

TEST_CASE("a folder that cannot be written to is the same error on every rank") {
  const Rows rows(9, 3);
  CHECK_THROWS_WITH_AS(train::write_node_rows(world(), "/nonexistent/rows.npy", 9, rows.ids, rows.view()),
                       doctest::Contains("cannot open /nonexistent/rows.npy: No such file or directory"),
                       halo::Error);
}

TEST_CASE("a disk that is full is the same error on every rank and leaves nothing") {
  const halo::testing::SharedFolder folder;
  const Rows rows(3000, 3);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {.rlim_cur = 20000, .rlim_max = before.rlim_max};  // the file has 36128 bytes
  setrlimit(RLIMIT_FSIZE, &small);
  CHECK_THROWS_WITH_AS(
      train::write_node_rows(world(), folder.path() / "rows.npy", 3000, rows.ids, rows.view(), 600),
      doctest::Contains("rows.npy: File too large"), halo::Error);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(nothing_left(folder.path()));
}

TEST_CASE("ids that are not those of all nodes are the same error on every rank and leave nothing") {
  const halo::testing::SharedFolder folder;
  const auto path = folder.path() / "rows.npy";
  Rows rows(9, 1);
  CHECK_THROWS_AS(train::write_node_rows(world(), path, 10, rows.ids, rows.view()),
                  halo::Error);  // one missing
  CHECK_THROWS_AS(train::write_node_rows(world(), path, 8, rows.ids, rows.view()),
                  halo::Error);  // out of range
  if (!rows.ids.empty() && rows.ids.back() == 0) rows.ids.back() = 1;
  CHECK_THROWS_WITH_AS(train::write_node_rows(world(), path, 9, rows.ids, rows.view()),
                       doctest::Contains("each once"), halo::Error);
  CHECK(nothing_left(folder.path()));
}
