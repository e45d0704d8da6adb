#include "halo/mpi/shared_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "handle.hpp"

namespace halo::mpi {
namespace {

/// Bytes of one MPI call: counts are ints.
constexpr std::int64_t kChunk = std::int64_t{1} << 30;

InputError unreadable(const std::filesystem::path& path, std::int64_t offset, const std::string& found,
                      const std::string& expected) {
  return InputError({.what = fmt::format("{} cannot be read", path.filename().string()),
                     .where = fmt::format("{}, offset {}", path.string(), offset),
                     .found = found,
                     .expected = expected,
                     .next = "check the file system on that host, or write the file anew"});
}

}  // namespace

struct SharedFile::State {
  ~State() {
    if (file != MPI_FILE_NULL && !guard.unwinding() && is_running()) MPI_File_close(&file);
  }
  const Communicator* communicator = nullptr;
  std::filesystem::path path;
  MPI_File file = MPI_FILE_NULL;
  UnwindGuard guard;
};

SharedFile::SharedFile(const Communicator& communicator, const std::filesystem::path& path)
    : state_(std::make_unique<State>()) {
  state_->communicator = &communicator;
  state_->path = path;
  const int code =
      MPI_File_open(communicator.handle().comm, path.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &state_->file);
  communicator.agree([&] {
    if (code != MPI_SUCCESS) throw unreadable(path, 0, error_text(code), "a readable file");
  });
}
SharedFile::~SharedFile() = default;
SharedFile::SharedFile(SharedFile&&) noexcept = default;
SharedFile& SharedFile::operator=(SharedFile&&) noexcept = default;

void SharedFile::read_at_all(std::int64_t offset, std::span<std::byte> bytes) const {
  const Communicator& communicator = *state_->communicator;
  const auto total = static_cast<std::int64_t>(bytes.size());
  // Asked beforehand: where slices overlap, ROMIO reports the bytes asked for as read, even past the end of
  // the file.
  communicator.agree([&] {
    MPI_Offset length = 0;
    check(MPI_File_get_size(state_->file, &length), "MPI_File_get_size");
    if (offset + total > length) {
      throw unreadable(state_->path, offset,
                       fmt::format("a file of {} bytes", static_cast<std::int64_t>(length)),
                       fmt::format("{} bytes from offset {} on", total, offset));
    }
  });
  std::array<std::int64_t, 1> rounds = {(total + kChunk - 1) / kChunk};
  communicator.max(rounds);
  std::int64_t done = 0;
  std::string problem;
  for (std::int64_t round = 0; round < rounds[0]; ++round) {
    const std::int64_t begin = std::min(round * kChunk, total);
    const int wanted = static_cast<int>(std::min(kChunk, total - begin));
    MPI_Status status{};
    const int code =
        MPI_File_read_at_all(state_->file, offset + begin, bytes.data() + begin, wanted, MPI_BYTE, &status);
    int got = 0;
    if (code == MPI_SUCCESS) check(MPI_Get_count(&status, MPI_BYTE, &got), "MPI_Get_count");
    if (code != MPI_SUCCESS && problem.empty()) problem = error_text(code);
    done += got;
  }
  communicator.agree([&] {
    if (problem.empty() && done != total) problem = fmt::format("{} bytes, then the end of the file", done);
    if (!problem.empty()) throw unreadable(state_->path, offset, problem, fmt::format("{} bytes", total));
  });
}

}  // namespace halo::mpi
