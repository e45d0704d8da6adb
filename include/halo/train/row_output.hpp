#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "halo/base/ids.hpp"
#include "halo/base/matrix_view.hpp"
#include "halo/mpi/communicator.hpp"

namespace halo::train {

/// Bytes of one piece that a rank collects and writes, as it travels: ids and rows.
inline constexpr std::int64_t kOutputPieceBytes = std::int64_t{8} << 20;

/// Collective. Writes rows.row(i) of the owned node with original_ids[i] as that row of a .npy file
/// [num_nodes x cols], rows in the user's order. Each rank receives and writes one block of the original ids,
/// piece by piece, so that no rank holds more than about `piece_bytes` beside its own rows. The file appears
/// under its name when it is whole; any failure (full disk, no permission, ids that are not 0 .. num_nodes -
/// 1 once each) is the same Error on every rank and leaves nothing. T: float or std::int32_t.
template <typename T>
void write_node_rows(const mpi::Communicator& communicator, const std::filesystem::path& path,
                     NodeId num_nodes, std::span<const NodeId> original_ids, MatrixView<const T> rows,
                     std::int64_t piece_bytes = kOutputPieceBytes);

/// Collective. The same of one number for each node, [num_nodes].
template <typename T>
void write_node_values(const mpi::Communicator& communicator, const std::filesystem::path& path,
                       NodeId num_nodes, std::span<const NodeId> original_ids, std::span<const T> values,
                       std::int64_t piece_bytes = kOutputPieceBytes);

}  // namespace halo::train
