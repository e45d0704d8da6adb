#include "halo/train/row_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "halo/base/error.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/mpi/exchange.hpp"
#include "shared_file.hpp"

namespace halo::train {
namespace {

/// Which rank writes which rows in which turn: rank r has the ids of its block, and of those a piece in each
/// turn.
struct Pieces {
  NodeId num_nodes = 0;
  NodeId block = 1;  ///< ids of one rank
  NodeId piece = 1;  ///< ids of one rank in one turn

  NodeId turns() const { return (block + piece - 1) / piece; }
  Rank rank_of(NodeId id) const { return static_cast<Rank>(id / block); }
  NodeId turn_of(NodeId id) const { return id % block / piece; }
  RowRange ids_of(Rank rank, NodeId turn) const {
    const NodeId first = std::min(num_nodes, rank * block + turn * piece);
    return {first, std::min({num_nodes, first + piece, (rank + 1) * block})};
  }
};

/// 64-bit words of one row on its way: its id, then its bytes.
std::int64_t record_words(std::int64_t row_bytes) {
  constexpr auto kWord = static_cast<std::int64_t>(sizeof(std::int64_t));
  return 1 + (row_bytes + kWord - 1) / kWord;
}

Pieces make_pieces(NodeId num_nodes, int ranks, std::int64_t row_bytes, std::int64_t piece_bytes) {
  const NodeId block = std::max<NodeId>(1, (num_nodes + ranks - 1) / ranks);
  const std::int64_t record_bytes = record_words(row_bytes) * static_cast<std::int64_t>(sizeof(std::int64_t));
  return {.num_nodes = num_nodes,
          .block = block,
          .piece = std::clamp<NodeId>(piece_bytes / record_bytes, 1, block)};
}

/// Places of `ids` in the order in which they are sent: by turn, then by rank.
std::vector<std::size_t> sending_order(std::span<const NodeId> ids, const Pieces& pieces) {
  std::vector<std::size_t> order(ids.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const NodeId turn_a = pieces.turn_of(ids[a]);
    const NodeId turn_b = pieces.turn_of(ids[b]);
    return turn_a != turn_b ? turn_a < turn_b : ids[a] < ids[b];
  });
  return order;
}

void check_ids(std::span<const NodeId> ids, NodeId num_nodes) {
  for (const NodeId id : ids) {
    if (id >= 0 && id < num_nodes) continue;
    throw Error(fmt::format("original id {} is not that of one of {} nodes", id, num_nodes));
  }
}

template <typename T>
class Courier {
 public:
  Courier(const mpi::Communicator& communicator, const Pieces& pieces, std::span<const NodeId> ids,
          MatrixView<const T> rows)
      : communicator_(communicator),
        pieces_(pieces),
        ids_(ids),
        rows_(rows),
        row_bytes_(static_cast<std::size_t>(rows.cols) * sizeof(T)),
        words_(at(record_words(static_cast<std::int64_t>(row_bytes_)))),
        order_(sending_order(ids, pieces)) {}

  /// Collective. This rank's piece of `turn`, row by row.
  std::vector<std::byte> receive(NodeId turn) {
    const mpi::Received received = exchange(turn);
    const RowRange own = pieces_.ids_of(communicator_.rank(), turn);
    const std::size_t count = received.values.size() / words_;
    std::vector<std::byte> piece(static_cast<std::size_t>(own.size()) * row_bytes_);
    std::vector<std::uint8_t> seen(static_cast<std::size_t>(own.size()), 0);
    for (std::size_t k = 0; k < count; ++k) {
      const std::int64_t* record = received.values.data() + k * words_;
      const auto row = static_cast<std::size_t>(record[0] - own.begin);
      seen[row] = seen[row] == 0 ? 1 : 2;
      std::memcpy(piece.data() + row * row_bytes_, record + 1, row_bytes_);
    }
    communicator_.agree([&] {
      if (std::all_of(seen.begin(), seen.end(), [](std::uint8_t times) { return times == 1; })) return;
      throw Error("the original ids of all ranks are not those of all nodes, each once");
    });
    return piece;
  }

 private:
  mpi::Received exchange(NodeId turn) {
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(communicator_.size()) + 1, 0);
    std::vector<std::int64_t> words;
    std::size_t end = sent_;
    while (end < order_.size() && pieces_.turn_of(ids_[order_[end]]) == turn) ++end;
    words.reserve((end - sent_) * words_);
    for (; sent_ < end; ++sent_) {
      const NodeId id = ids_[order_[sent_]];
      const std::size_t record = words.size();
      words.resize(record + words_, 0);
      words[record] = id;
      std::memcpy(&words[record] + 1, rows_.row(static_cast<std::int64_t>(order_[sent_])), row_bytes_);
      offsets[static_cast<std::size_t>(pieces_.rank_of(id)) + 1] += static_cast<std::int64_t>(words_);
    }
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    return mpi::all_to_all(communicator_, words, offsets);
  }

  const mpi::Communicator& communicator_;
  Pieces pieces_;
  std::span<const NodeId> ids_;
  MatrixView<const T> rows_;
  std::size_t row_bytes_;
  std::size_t words_;  ///< of one row on its way
  std::vector<std::size_t> order_;
  std::size_t sent_ = 0;  ///< leading part of order_
};

template <typename T>
void write(const mpi::Communicator& communicator, const std::filesystem::path& path,
           std::span<const std::int64_t> shape, std::span<const NodeId> ids, MatrixView<const T> rows,
           std::int64_t piece_bytes) {
  communicator.agree([&] { check_ids(ids, shape[0]); });
  const auto row_bytes = rows.cols * static_cast<std::int64_t>(sizeof(T));
  const Pieces pieces = make_pieces(shape[0], communicator.size(), row_bytes, piece_bytes);
  const std::string header = datasets::make_npy_header(datasets::dtype_of<T>(), shape);
  SharedFile file(communicator, path);
  Courier<T> courier(communicator, pieces, ids, rows);
  for (NodeId turn = 0; turn < pieces.turns(); ++turn) {
    const std::vector<std::byte> piece = courier.receive(turn);
    communicator.agree([&] {
      if (turn == 0 && communicator.rank() == 0) file.write(header.data(), header.size(), 0);
      const NodeId first = pieces.ids_of(communicator.rank(), turn).begin;
      file.write(piece.data(), piece.size(), static_cast<std::int64_t>(header.size()) + first * row_bytes);
    });
  }
  file.commit();
}

}  // namespace

template <typename T>
void write_node_rows(const mpi::Communicator& communicator, const std::filesystem::path& path,
                     NodeId num_nodes, std::span<const NodeId> original_ids, MatrixView<const T> rows,
                     std::int64_t piece_bytes) {
  const std::int64_t shape[] = {num_nodes, rows.cols};
  write(communicator, path, shape, original_ids, rows, piece_bytes);
}

template <typename T>
void write_node_values(const mpi::Communicator& communicator, const std::filesystem::path& path,
                       NodeId num_nodes, std::span<const NodeId> original_ids, std::span<const T> values,
                       std::int64_t piece_bytes) {
  const std::int64_t shape[] = {num_nodes};
  const MatrixView<const T> rows(values.data(), static_cast<std::int64_t>(values.size()), 1);
  write(communicator, path, shape, original_ids, rows, piece_bytes);
}

template void write_node_rows(const mpi::Communicator&, const std::filesystem::path&, NodeId,
                              std::span<const NodeId>, MatrixView<const float>, std::int64_t);
template void write_node_rows(const mpi::Communicator&, const std::filesystem::path&, NodeId,
                              std::span<const NodeId>, MatrixView<const std::int32_t>, std::int64_t);
template void write_node_values(const mpi::Communicator&, const std::filesystem::path&, NodeId,
                                std::span<const NodeId>, std::span<const float>, std::int64_t);
template void write_node_values(const mpi::Communicator&, const std::filesystem::path&, NodeId,
                                std::span<const NodeId>, std::span<const std::int32_t>, std::int64_t);

}  // namespace halo::train
