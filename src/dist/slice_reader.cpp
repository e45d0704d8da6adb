#include <fmt/format.h>

#include "halo/base/error.hpp"
#include "halo/mpi/file_slice.hpp"
#include "partition_folder.hpp"

namespace halo::dist {

SliceReader::SliceReader(const mpi::Communicator& communicator, const PartitionFolder& folder,
                         const Ownership& ownership)
    : communicator_(communicator),
      folder_(folder),
      first_part_(ownership.first_part[static_cast<std::size_t>(communicator.rank())]),
      last_part_(ownership.first_part[static_cast<std::size_t>(communicator.rank()) + 1]) {}

void SliceReader::read_bytes(const std::string& file, std::span<std::byte> out,
                             std::size_t element_bytes) const {
  const std::int64_t begin = range(file).begin;
  const std::int64_t offset =
      folder_.data_offsets.at(file) + begin * static_cast<std::int64_t>(element_bytes);
  mpi::read_slice(communicator_, folder_.path / file, offset, out,
                  [&] { check_parts(file, out, element_bytes); });
}

void SliceReader::check_parts(const std::string& file, std::span<const std::byte> bytes,
                              std::size_t element_bytes) const {
  const std::int64_t begin = range(file).begin;
  const std::int64_t row = folder_.manifest.files.at(file).checksum_row;
  for (PartId part = first_part_; part < last_part_; ++part) {
    const RowRange elements = folder_.elements_of(file, part, part + 1);
    const auto slice = bytes.subspan(static_cast<std::size_t>(elements.begin - begin) * element_bytes,
                                     static_cast<std::size_t>(elements.size()) * element_bytes);
    const std::uint64_t found = datasets::slice_checksum(slice.data(), slice.size());
    const auto expected = static_cast<std::uint64_t>(
        folder_.checksums[static_cast<std::size_t>(row * folder_.manifest.parts + part)]);
    if (found == expected) continue;
    throw InputError({.what = fmt::format("{} is damaged or from another run", file),
                      .where = fmt::format("{}, slice of part {}", (folder_.path / file).string(), part),
                      .found = fmt::format("checksum {:016x}", found),
                      .expected = fmt::format("checksum {:016x}", expected),
                      .next = "copy the folder again, or partition the dataset again with gnn_partition"});
  }
}

}  // namespace halo::dist
