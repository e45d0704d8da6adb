// NumPy's .npz: a zip archive with one <key>.npy per array, stored or deflated.
#include <fmt/format.h>
#include <zip.h>

#include <algorithm>

#include "halo/base/error.hpp"
#include "halo/datasets/array_folder.hpp"

namespace halo::datasets {
namespace {

/// Deflate cannot do better than 1032 to 1, so a greater promise is a lie and nothing is allocated by it.
constexpr zip_uint64_t kMaxExpansion = 1032;
constexpr zip_uint64_t kReadBytes = 1U << 24;

struct ZipClose {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

class NpzArchive : public ArrayFolder {
 public:
  explicit NpzArchive(const std::filesystem::path& path) : path_(path) {
    int code = 0;
    archive_.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
    if (archive_) return;
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    refuse(path_.string(), reason);
  }

  std::shared_ptr<const ByteSource> find_file(const std::string& name) const override {
    const zip_int64_t index = zip_name_locate(archive_.get(), name.c_str(), 0);
    if (index < 0) return nullptr;
    const std::string where = path_.string() + ":" + name;
    return hold_bytes(extract(static_cast<zip_uint64_t>(index), where), where);
  }
  bool has_file(const std::string& name) const override {
    return zip_name_locate(archive_.get(), name.c_str(), 0) >= 0;
  }
  const std::filesystem::path& path() const override { return path_; }

 private:
  [[noreturn]] static void refuse(const std::string& where, const std::string& reason) {
    throw InputError({.what = "cannot read the .npz file",
                      .where = where,
                      .found = reason,
                      .expected = "a zip archive as numpy.savez() or savez_compressed() writes it",
                      .next = "write or copy the file again"});
  }

  std::vector<std::byte> extract(zip_uint64_t index, const std::string& where) const {
    zip_stat_t status;
    if (zip_stat_index(archive_.get(), index, 0, &status) != 0) refuse(where, zip_strerror(archive_.get()));
    const std::uintmax_t archive_bytes = std::filesystem::file_size(path_);
    if (status.comp_size > archive_bytes || status.size / kMaxExpansion > status.comp_size) {
      refuse(where, fmt::format("a member of {} bytes stored in {} bytes of an archive of {}", status.size,
                                status.comp_size, archive_bytes));
    }
    std::unique_ptr<zip_file_t, ZipClose> file(zip_fopen_index(archive_.get(), index, 0));
    if (!file) refuse(where, zip_strerror(archive_.get()));
    std::vector<std::byte> bytes(status.size);
    for (zip_uint64_t done = 0; done < status.size;) {
      const auto got = zip_fread(file.get(), bytes.data() + done, std::min(kReadBytes, status.size - done));
      if (got <= 0)
        refuse(where, got == 0 ? "a member shorter than promised" : zip_file_strerror(file.get()));
      done += static_cast<zip_uint64_t>(got);
    }
    // libzip compares the checksum when the end is met, that is on one more read.
    std::byte beyond;
    if (zip_fread(file.get(), &beyond, 1) != 0) refuse(where, "a wrong checksum or length");
    return bytes;
  }

  std::filesystem::path path_;
  std::unique_ptr<zip_t, ZipClose> archive_;
};

}  // namespace

std::shared_ptr<const ArrayFolder> open_npz(const std::filesystem::path& path) {
  return std::make_shared<NpzArchive>(path);
}

}  // namespace halo::datasets
