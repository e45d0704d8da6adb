#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "halo/base/error.hpp"
#include "halo/dist/load_partition.hpp"
#include "partition_folder.hpp"

namespace halo::dist {

/// What the steps of loading share.
struct Source {
  const mpi::Communicator& communicator;
  const PartitionFolder& folder;
  RowRange owned;
  SliceReader reader;
};

/// Room for this rank's slice of a file. Local; may run out of memory.
template <typename T>
std::vector<T> room_for(const Source& source, const std::string& file) {
  return std::vector<T>(at(source.reader.range(file).size()));
}

/// Throws unless `good` holds for every value; names the row and column of the first that fails. `first_row`
/// is the row of the file where this rank's slice begins.
template <typename T, typename Good>
void check_values(const Source& source, const std::string& file, std::span<const T> values,
                  std::int64_t row_items, std::int64_t first_row, Good good, const std::string& expected) {
  const auto bad = std::find_if_not(values.begin(), values.end(), good);
  if (bad == values.end()) return;
  const std::int64_t position = bad - values.begin();
  throw InputError({.what = fmt::format("{} holds a value it must not", file),
                    .where = (source.folder.path / file).string(),
                    .found = fmt::format("{} at row {}, column {}", *bad, first_row + position / row_items,
                                         position % row_items),
                    .expected = expected,
                    .next = "correct the dataset and partition it again with gnn_partition"});
}

inline bool is_finite(float value) {
  return std::isfinite(value);
}

/// Collective. Reads and checks a slice of rows.
template <typename T, typename Good>
std::vector<T> read_checked(const Source& source, const std::string& file, std::int64_t row_items,
                            std::int64_t first_row, Good good, const std::string& expected) {
  std::vector<T> values;
  source.communicator.agree([&] { values = room_for<T>(source, file); });
  source.reader.read<T>(file, values);
  source.communicator.agree(
      [&] { check_values<T>(source, file, values, row_items, first_row, good, expected); });
  return values;
}

/// Collective. Features, labels, split and original ids of the owned nodes, and the held-out links.
void read_node_data(const Source& source, LocalPartition& local);

}  // namespace halo::dist
