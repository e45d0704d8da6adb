#include "halo/datasets/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "halo/base/error.hpp"

namespace halo::datasets {
namespace {

constexpr std::size_t kBufferBytes = 1U << 20;

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<int> counter = 0;
  return path.parent_path() / fmt::format(".{}.{}-{}.tmp", path.filename().string(), ::getpid(), counter++);
}

/// Makes the rename itself durable; a file system that cannot do that is not an error.
void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path) : path_(path), temporary_(temporary_name(path)) {
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("create");
  buffer_.reserve(kBufferBytes);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* action) const {
  throw Error(fmt::format("cannot {} {}: {}", action, path_.string(), std::strerror(errno)));
}

void AtomicFile::write_through(const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const auto written = ::write(descriptor_, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    data += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::flush() {
  write_through(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  const char* begin = static_cast<const char*>(data);
  if (buffer_.size() + bytes > kBufferBytes) flush();
  if (bytes >= kBufferBytes) {
    write_through(begin, bytes);
  } else {
    buffer_.insert(buffer_.end(), begin, begin + bytes);
  }
}

void AtomicFile::commit() {
  flush();
  if (::fsync(descriptor_) != 0) fail("flush");
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary_.c_str());
    errno = reason;
    fail("finish");
  }
  sync_folder(path_.parent_path());
}

}  // namespace halo::datasets
