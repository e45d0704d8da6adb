#include "shared_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "halo/base/error.hpp"

namespace halo::train {

SharedFile::SharedFile(const mpi::Communicator& communicator, const std::filesystem::path& path)
    : communicator_(communicator), path_(path), temporary_(path) {
  temporary_ += ".tmp";
  try {
    communicator_.agree([&] {
      if (communicator_.rank() == 0) open(O_WRONLY | O_CREAT | O_TRUNC);
    });
    communicator_.agree([&] {
      if (communicator_.rank() != 0) open(O_WRONLY);
    });
  } catch (...) {
    if (descriptor_ >= 0) close(descriptor_);
    throw;
  }
}

SharedFile::~SharedFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!committed_ && communicator_.rank() == 0) unlink(temporary_.c_str());
}

void SharedFile::open(int flags) {
  descriptor_ = ::open(temporary_.c_str(), flags | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("open");
}

void SharedFile::write(const void* data, std::size_t bytes, std::int64_t offset) {
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

void SharedFile::commit() {
  communicator_.agree([&] {
    if (fsync(descriptor_) != 0) fail("flush");
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (close(descriptor) != 0) fail("close");
  });
  communicator_.agree([&] {
    if (communicator_.rank() == 0 && rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename");
  });
  committed_ = true;
}

void SharedFile::fail(const char* action) const {
  throw Error(fmt::format("cannot {} {}: {}", action, path_.string(), std::strerror(errno)));
}

}  // namespace halo::train
