#include "halo/mpi/file_slice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "handle.hpp"

namespace halo::mpi {
namespace {

/// Bytes of one MPI call: counts are ints.
constexpr std::int64_t kChunk = std::int64_t{1} << 30;

class OpenFile {
 public:
  /// Collective.
  OpenFile(MPI_Comm comm, const std::filesystem::path& path)
      : code_(MPI_File_open(comm, path.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file_)) {}
  ~OpenFile() {
    if (file_ != MPI_FILE_NULL && !guard_.unwinding()) MPI_File_close(&file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  /// What keeps this rank from reading [begin, end); empty if nothing does. Local. Asked before reading,
  /// because ROMIO reports the bytes asked for as read, even past the end of the file, where slices overlap.
  std::string problem(std::int64_t end) const {
    if (code_ != MPI_SUCCESS) return error_text(code_);
    MPI_Offset length = 0;
    check(MPI_File_get_size(file_, &length), "MPI_File_get_size");
    return end <= length ? "" : fmt::format("a file of {} bytes", static_cast<std::int64_t>(length));
  }

  /// Collective. Reads in `rounds` pieces, as many on every rank; returns what went wrong.
  std::string read(std::int64_t offset, std::span<std::byte> bytes, std::int64_t rounds) const {
    const auto total = static_cast<std::int64_t>(bytes.size());
    std::int64_t done = 0;
    std::string problem;
    for (std::int64_t round = 0; round < rounds; ++round) {
      const std::int64_t begin = std::min(round * kChunk, total);
      const int wanted = static_cast<int>(std::min(kChunk, total - begin));
      MPI_Status status{};
      const int code =
          MPI_File_read_at_all(file_, offset + begin, bytes.data() + begin, wanted, MPI_BYTE, &status);
      int got = 0;
      if (code == MPI_SUCCESS) check(MPI_Get_count(&status, MPI_BYTE, &got), "MPI_Get_count");
      if (code != MPI_SUCCESS && problem.empty()) problem = error_text(code);
      done += got;
    }
    if (problem.empty() && done != total) problem = fmt::format("{} bytes, then the end of the file", done);
    return problem;
  }

 private:
  MPI_File file_ = MPI_FILE_NULL;
  int code_;
  UnwindGuard guard_;
};

}  // namespace

void read_slice(const Communicator& communicator, const std::filesystem::path& path, std::int64_t offset,
                std::span<std::byte> bytes, const std::function<void()>& check_contents) {
  const auto total = static_cast<std::int64_t>(bytes.size());
  const auto throw_if = [&](const std::string& problem) {
    if (problem.empty()) return;
    throw InputError({.what = fmt::format("{} cannot be read", path.filename().string()),
                      .where = fmt::format("{}, offset {}", path.string(), offset),
                      .found = problem,
                      .expected = fmt::format("{} bytes from there on", total),
                      .next = "check the file system on that host, or write the file anew"});
  };
  const OpenFile file(communicator.handle().comm, path);
  std::string problem = file.problem(offset + total);
  std::array<std::int64_t, 2> largest = {(total + kChunk - 1) / kChunk, problem.empty() ? 0 : 1};
  communicator.max(largest);
  if (largest[1] == 0) problem = file.read(offset, bytes, largest[0]);
  communicator.agree([&] {
    throw_if(problem);
    if (check_contents && largest[1] == 0) check_contents();
  });
}

}  // namespace halo::mpi
