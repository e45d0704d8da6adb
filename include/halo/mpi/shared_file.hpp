#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "halo/mpi/communicator.hpp"

namespace halo::mpi {

/// A file that all ranks read together, each its own slice. A rank that cannot read its slice makes every
/// rank throw the same InputError, which names the rank, the file and the offset.
class SharedFile {
 public:
  /// Collective.
  SharedFile(const Communicator& communicator, const std::filesystem::path& path);
  ~SharedFile();
  SharedFile(SharedFile&&) noexcept;
  SharedFile& operator=(SharedFile&&) noexcept;

  /// Collective. Fills `bytes` from `offset`; an empty slice takes part. A file that ends within the slice is
  /// an InputError.
  void read_at_all(std::int64_t offset, std::span<std::byte> bytes) const;
  template <typename T>
  void read_at_all(std::int64_t offset, std::span<T> values) const {
    read_at_all(offset, std::as_writable_bytes(values));
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halo::mpi
