#include "checkpoint_arrays.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>

#include "halo/base/error.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/datasets/partitioned_dataset.hpp"
#include "shared_file.hpp"

namespace halo::train {
namespace {

namespace fs = std::filesystem;

std::string file_name(const std::string& array) {
  return array + ".npy";
}

std::string sharded_header(const ShardedArray& array, const NodeSlice& slice) {
  const std::array<std::int64_t, 2> shape = {slice.num_nodes, array.cols};
  return datasets::make_npy_header(datasets::dtype_of<float>(), shape);
}

/// Sum of the checksums of the owned rows; integers, so that any cut into ranks gives the same total.
std::int64_t rows_checksum(const ShardedArray& array, const NodeSlice& slice) {
  std::uint64_t sum = 0;
  const auto cols = static_cast<std::size_t>(array.cols);
  for (std::int64_t row = 0; row < slice.owned.size(); ++row) {
    const auto values = array.rows.subspan(static_cast<std::size_t>(row) * cols, cols);
    sum += XXH3_64bits_withSeed(values.data(), values.size_bytes(),
                                static_cast<XXH64_hash_t>(slice.owned.begin + row));
  }
  return static_cast<std::int64_t>(sum);
}

std::vector<std::int64_t> sharded_checksums(const mpi::Communicator& communicator,
                                            const CheckpointArrays& arrays, const NodeSlice& slice) {
  std::vector<std::int64_t> sums;
  for (const ShardedArray& array : arrays.sharded) sums.push_back(rows_checksum(array, slice));
  communicator.sum(std::span<std::int64_t>(sums));
  return sums;
}

std::int64_t rows_offset(const ShardedArray& array, const NodeSlice& slice) {
  return static_cast<std::int64_t>(sharded_header(array, slice).size()) +
         slice.owned.begin * array.cols * static_cast<std::int64_t>(sizeof(float));
}

void write_sharded(const mpi::Communicator& communicator, const fs::path& folder, const ShardedArray& array,
                   const NodeSlice& slice) {
  SharedFile file(communicator, folder / file_name(array.name));
  communicator.agree([&] {
    const std::string header = sharded_header(array, slice);
    if (communicator.rank() == 0) file.write(header.data(), header.size(), 0);
    file.write(array.rows.data(), array.rows.size_bytes(), rows_offset(array, slice));
  });
  file.commit();
}

void read_rows(const fs::path& folder, const ShardedArray& array, const NodeSlice& slice) {
  const fs::path path = folder / file_name(array.name);
  const datasets::NpyHeader header = datasets::read_npy_header(path);
  if (header.shape != std::vector<std::int64_t>{slice.num_nodes, array.cols}) {
    throw Error(fmt::format("{} has another shape", path.string()));
  }
  datasets::read_npy_rows<float>(path, header, slice.owned, array.rows);
}

[[noreturn]] void throw_damaged(const fs::path& path) {
  throw Error(fmt::format("{} is damaged: its checksum is not the one in state.json", path.string()));
}

void read_whole(const fs::path& folder, const nlohmann::json& checksums, const WholeArray& array) {
  const fs::path path = folder / file_name(array.name);
  if (datasets::file_checksum(path) != checksums.value(file_name(array.name), "")) throw_damaged(path);
  const auto values = datasets::read_npy<float>(path);
  if (values.size() != array.values.size()) throw Error(fmt::format("{} has another length", path.string()));
  std::copy(values.begin(), values.end(), array.values.begin());
}

/// What a reader finds wrong in a file is damage here, not the user's input.
void as_damage(const std::function<void()>& read) {
  try {
    read();
  } catch (const InputError& error) {
    throw Error(error.what());
  }
}

}  // namespace

std::string checksum_text(std::uint64_t checksum) {
  return fmt::format("{:016x}", checksum);
}

nlohmann::json write_arrays(const mpi::Communicator& communicator, const fs::path& folder,
                            const CheckpointArrays& arrays, const NodeSlice& slice) {
  const bool leads = communicator.rank() == 0;
  nlohmann::json checksums = nlohmann::json::object();
  communicator.agree([&] {
    if (!leads) return;
    for (const WholeArray& array : arrays.whole) {
      const fs::path path = folder / file_name(array.name);
      const std::int64_t shape[] = {static_cast<std::int64_t>(array.values.size())};
      datasets::write_npy<float>(path, array.values, shape);
      checksums[file_name(array.name)] = datasets::file_checksum(path);
    }
  });
  for (const ShardedArray& array : arrays.sharded) write_sharded(communicator, folder, array, slice);
  const auto sums = sharded_checksums(communicator, arrays, slice);
  for (std::size_t k = 0; k < sums.size(); ++k) {
    checksums[file_name(arrays.sharded[k].name)] = checksum_text(static_cast<std::uint64_t>(sums[k]));
  }
  return checksums;
}

void read_arrays(const mpi::Communicator& communicator, const fs::path& folder,
                 const nlohmann::json& checksums, const CheckpointArrays& arrays, const NodeSlice& slice) {
  communicator.agree([&] {
    as_damage([&] {
      if (communicator.rank() == 0) {
        for (const WholeArray& array : arrays.whole) read_whole(folder, checksums, array);
      }
      for (const ShardedArray& array : arrays.sharded) read_rows(folder, array, slice);
    });
  });
  for (const WholeArray& array : arrays.whole) {
    communicator.broadcast(std::as_writable_bytes(array.values), 0);
  }
  const auto sums = sharded_checksums(communicator, arrays, slice);
  communicator.agree([&] {
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const std::string name = file_name(arrays.sharded[k].name);
      if (checksum_text(static_cast<std::uint64_t>(sums[k])) != checksums.value(name, "")) {
        throw_damaged(folder / name);
      }
    }
  });
}

}  // namespace halo::train
