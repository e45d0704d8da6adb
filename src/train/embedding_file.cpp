#include "embedding_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "halo/base/error.hpp"
#include "halo/datasets/npy.hpp"

namespace halo::train {
namespace {

constexpr std::int64_t kPieceBytes = std::int64_t{8} << 20;

void check_shape(const datasets::NpyHeader& header, const std::filesystem::path& file, NodeId nodes,
                 std::int64_t cols) {
  if (header.shape == std::vector<std::int64_t>{nodes, cols}) return;
  throw InputError({.what = "the embedding is of another dataset or model",
                    .where = file.string(),
                    .found = fmt::format("shape [{}]", fmt::join(header.shape, ", ")),
                    .expected = fmt::format("shape [{}, {}]", nodes, cols),
                    .next = "take the file that the run wrote beside its weights"});
}

}  // namespace

void read_embedding(const mpi::Communicator& communicator, const std::filesystem::path& file,
                    const dist::LocalPartition& partition, std::int64_t cols, std::span<float> rows) {
  const std::vector<NodeId>& ids = partition.graph.original_id;
  communicator.agree([&] {
    const datasets::NpyHeader header = datasets::read_npy_header(file);
    check_shape(header, file, partition.manifest.num_nodes, cols);
    std::vector<LocalId> order(ids.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](LocalId a, LocalId b) { return ids[at(a)] < ids[at(b)]; });
    const std::int64_t piece_rows =
        std::max<std::int64_t>(1, kPieceBytes / (cols * static_cast<std::int64_t>(sizeof(float))));
    std::vector<float> piece;
    for (std::size_t next = 0; next < order.size();) {
      const NodeId begin = ids[at(order[next])];
      const NodeId end = std::min(begin + piece_rows, partition.manifest.num_nodes);
      piece.resize(at((end - begin) * cols));
      datasets::read_npy_rows<float>(file, header, {begin, end}, piece);
      for (; next < order.size() && ids[at(order[next])] < end; ++next) {
        const std::int64_t from = (ids[at(order[next])] - begin) * cols;
        std::copy_n(piece.data() + from, cols, rows.data() + order[next] * cols);
      }
    }
  });
}

}  // namespace halo::train
