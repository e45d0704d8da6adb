#include "halo/datasets/byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "halo/base/error.hpp"

namespace halo::datasets {
namespace {

[[noreturn]] void fail_short(const std::string& name, std::int64_t size, std::int64_t offset,
                             std::size_t bytes) {
  throw InputError({.what = "the file is shorter than expected",
                    .where = name,
                    .found = fmt::format("{} bytes", size),
                    .expected = fmt::format("{} bytes from offset {} on", bytes, offset),
                    .next = "was the file cut, or is it still being written?"});
}

class FileSource : public ByteSource {
 public:
  explicit FileSource(const std::filesystem::path& path) : name_(path.string()) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) refuse(std::strerror(errno));
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
      ::close(descriptor_);
      refuse("not a regular file");
    }
    size_ = status.st_size;
  }
  ~FileSource() override { ::close(descriptor_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  void read(std::int64_t offset, std::span<std::byte> out) const override {
    std::size_t done = 0;
    while (done < out.size()) {
      const auto position = offset + static_cast<std::int64_t>(done);
      const auto got = ::pread(descriptor_, out.data() + done, out.size() - done, position);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw Error(fmt::format("cannot read {}: {}", name_, std::strerror(errno)));
      if (got == 0) fail_short(name_, position, offset, out.size());
      done += static_cast<std::size_t>(got);
    }
  }
  std::int64_t size() const override { return size_; }
  const std::string& name() const override { return name_; }

 private:
  [[noreturn]] void refuse(const std::string& reason) const {
    throw InputError({.what = "cannot open the file",
                      .where = name_,
                      .found = reason,
                      .expected = "a readable file",
                      .next = "check the path and its permissions"});
  }
  std::string name_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

class MemorySource : public ByteSource {
 public:
  MemorySource(std::vector<std::byte> bytes, std::string name)
      : bytes_(std::move(bytes)), name_(std::move(name)) {}

  void read(std::int64_t offset, std::span<std::byte> out) const override {
    if (offset < 0 || offset > size() || out.size() > bytes_.size() - static_cast<std::size_t>(offset)) {
      fail_short(name_, size(), offset, out.size());
    }
    std::copy_n(bytes_.begin() + offset, out.size(), out.begin());
  }
  std::int64_t size() const override { return static_cast<std::int64_t>(bytes_.size()); }
  const std::string& name() const override { return name_; }

 private:
  std::vector<std::byte> bytes_;
  std::string name_;
};

}  // namespace

std::shared_ptr<const ByteSource> open_file(const std::filesystem::path& path) {
  return std::make_shared<FileSource>(path);
}

std::shared_ptr<const ByteSource> hold_bytes(std::vector<std::byte> bytes, std::string name) {
  return std::make_shared<MemorySource>(std::move(bytes), std::move(name));
}

}  // namespace halo::datasets
