#include <doctest/doctest.h>

#include "halo/base/error.hpp"
#include "halo/graph/csr.hpp"

namespace graph = halo::graph;
using halo::EdgeId;
using halo::NodeId;
using Ids = std::vector<NodeId>;
using Offsets = std::vector<EdgeId>;

TEST_CASE("edges become rows of in-neighbours, ascending, weights along") {
  // 0 -> 1 (a), 2 -> 1 (b), 1 -> 0 (c), 2 -> 2 (d); node 3 is isolated.
  const Ids sources = {2, 0, 1, 2};
  const Ids targets = {1, 1, 0, 2};
  const std::vector<float> weights = {0.5F, 1.5F, 2.5F, 3.5F};
  const graph::Csr csr = graph::build_in_edges(4, sources, targets, weights);
  CHECK(csr.indptr == Offsets{0, 1, 3, 4, 4});
  CHECK(csr.indices == Ids{1, 0, 2, 2});
  CHECK(csr.weights == std::vector<float>{2.5F, 1.5F, 0.5F, 3.5F});
  CHECK(!graph::is_symmetric(csr));

  const graph::Csr out = graph::transpose(csr);
  CHECK(out.indptr == Offsets{0, 1, 2, 4, 4});
  CHECK(out.indices == Ids{1, 0, 1, 2});
  CHECK(out.weights == std::vector<float>{1.5F, 2.5F, 0.5F, 3.5F});

  const graph::Csr clean = graph::symmetric_loop_free(csr);
  CHECK(clean.indptr == Offsets{0, 1, 3, 4, 4});
  CHECK(clean.indices == Ids{1, 0, 2, 1});
  CHECK(graph::is_symmetric(clean));
}

TEST_CASE("symmetry includes the weights") {
  const Ids ends = {0, 1};
  const Ids other_ends = {1, 0};
  CHECK(graph::is_symmetric(graph::build_in_edges(2, ends, other_ends)));
  CHECK(!graph::is_symmetric(graph::build_in_edges(2, ends, other_ends, std::vector<float>{1.0F, 2.0F})));
}

TEST_CASE("relabelling keeps the edges and sorts the rows again") {
  const Ids sources = {0, 1, 2};
  const Ids targets = {2, 2, 0};
  const graph::Csr csr = graph::build_in_edges(3, sources, targets, std::vector<float>{1.0F, 2.0F, 3.0F});
  const graph::Csr moved = graph::relabel(csr, Ids{2, 1, 0});  // 2 -> 0 (1), 1 -> 0 (2), 0 -> 2 (3)
  CHECK(moved.indptr == Offsets{0, 2, 2, 3});
  CHECK(moved.indices == Ids{1, 2, 0});
  CHECK(moved.weights == std::vector<float>{2.0F, 1.0F, 3.0F});
}

TEST_CASE("duplicates are kept and counted") {
  const Ids sources = {0, 0, 0, 1};
  const Ids targets = {1, 1, 1, 1};
  const graph::Csr csr = graph::build_in_edges(2, sources, targets);
  CHECK(csr.num_edges() == 4);
  CHECK(graph::count_duplicates(csr) == 2);
}

TEST_CASE("graphs without nodes or edges") {
  CHECK(graph::build_in_edges(0, {}, {}).indptr == Offsets{0});
  CHECK(graph::build_in_edges(2, {}, {}).indptr == Offsets{0, 0, 0});
}

TEST_CASE("bad edges are errors") {
  const Ids good = {0};
  CHECK_THROWS_AS(graph::build_in_edges(1, good, Ids{1}), halo::Error);
  CHECK_THROWS_AS(graph::build_in_edges(1, Ids{-1}, good), halo::Error);
  CHECK_THROWS_AS(graph::build_in_edges(1, good, Ids{0, 0}), halo::Error);
  CHECK_THROWS_AS(graph::relabel(graph::build_in_edges(1, good, good), Ids{}), halo::Error);
}
