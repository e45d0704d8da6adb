#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "halo/base/error.hpp"
#include "halo/datasets/npy.hpp"
#include "halo/mpi/exchange.hpp"
#include "halo/train/run_folder.hpp"

namespace halo::train {
namespace {

/// The file under its temporary name; renamed by rank 0 when all have written.
class PredictionFile {
 public:
  explicit PredictionFile(const std::filesystem::path& path, int flags) : path_(path) {
    descriptor_ = open(path.c_str(), flags | O_CLOEXEC, 0644);
    if (descriptor_ < 0) fail("open");
  }
  ~PredictionFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  PredictionFile(const PredictionFile&) = delete;
  PredictionFile& operator=(const PredictionFile&) = delete;

  void write(const void* data, std::size_t bytes, std::int64_t offset) {
    const char* next = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = pwrite(descriptor_, next, bytes, offset);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail("write");
      next += written;
      offset += written;
      bytes -= static_cast<std::size_t>(written);
    }
  }
  void flush() {
    if (fsync(descriptor_) != 0) fail("flush");
  }

 private:
  [[noreturn]] void fail(const char* action) const {
    throw Error(fmt::format("cannot {} {}: {}", action, path_.string(), std::strerror(errno)));
  }
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// Sends (original id, value) to the rank whose block the id is in; returns this rank's block.
std::vector<std::int32_t> own_block(const mpi::Communicator& communicator, NodeId num_nodes, NodeId block,
                                    std::span<const NodeId> ids, std::span<const std::int32_t> values) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(communicator.size()) + 1, 0);
  for (const NodeId id : ids) offsets[static_cast<std::size_t>(id / block) + 1] += 2;
  for (std::size_t r = 1; r < offsets.size(); ++r) offsets[r] += offsets[r - 1];
  std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
  std::vector<std::int64_t> pairs(2 * ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::int64_t& slot = next[static_cast<std::size_t>(ids[i] / block)];
    pairs[static_cast<std::size_t>(slot++)] = ids[i];
    pairs[static_cast<std::size_t>(slot++)] = values[i];
  }
  const mpi::Received received = mpi::all_to_all(communicator, pairs, offsets);
  const NodeId first = std::min(num_nodes, communicator.rank() * block);
  std::vector<std::int32_t> own(static_cast<std::size_t>(std::min(num_nodes, first + block) - first));
  for (std::size_t k = 0; k < received.values.size(); k += 2) {
    own.at(static_cast<std::size_t>(received.values[k] - first)) =
        static_cast<std::int32_t>(received.values[k + 1]);
  }
  return own;
}

}  // namespace

void write_predictions(const mpi::Communicator& communicator, const std::filesystem::path& path,
                       NodeId num_nodes, std::span<const NodeId> original_ids,
                       std::span<const std::int32_t> values) {
  const NodeId block = std::max<NodeId>(1, (num_nodes + communicator.size() - 1) / communicator.size());
  const auto own = own_block(communicator, num_nodes, block, original_ids, values);
  std::filesystem::path temporary = path;
  temporary += ".tmp";
  const std::int64_t shape[] = {num_nodes};
  const std::string header = datasets::make_npy_header(datasets::dtype_of<std::int32_t>(), shape);
  communicator.agree([&] {
    if (communicator.rank() != 0) return;
    PredictionFile(temporary, O_WRONLY | O_CREAT | O_TRUNC).write(header.data(), header.size(), 0);
  });
  communicator.agree([&] {
    PredictionFile file(temporary, O_WRONLY);
    const auto offset = static_cast<std::int64_t>(
        header.size() + sizeof(std::int32_t) * static_cast<std::size_t>(communicator.rank() * block));
    file.write(own.data(), own.size() * sizeof(std::int32_t), offset);
    file.flush();
  });
  communicator.agree([&] {
    if (communicator.rank() == 0) std::filesystem::rename(temporary, path);
  });
}

}  // namespace halo::train
