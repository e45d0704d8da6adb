#include "halo/datasets/staged_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "halo/base/error.hpp"

namespace halo::datasets {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& what, const fs::path& where, const std::string& found,
                         const std::string& next) {
  throw InputError({.what = what,
                    .where = where.string(),
                    .found = found,
                    .expected = "a new name in an existing folder, or an empty folder",
                    .next = next});
}

/// Absolute and without a trailing slash, so that the name can be replaced.
fs::path plain_path(const fs::path& path) {
  fs::path plain = fs::absolute(path).lexically_normal();
  return plain.has_filename() ? plain : plain.parent_path();
}

}  // namespace

StagedFolder::StagedFolder(const fs::path& target) : target_(plain_path(target)) {
  if (!fs::is_directory(target_.parent_path())) {
    refuse("cannot write there", target_, "the parent folder does not exist", "make it, or correct --out");
  }
  if (fs::exists(target_) && !(fs::is_directory(target_) && fs::is_empty(target_))) {
    refuse("the output exists", target_, "something of that name that is not an empty folder",
           "remove it, or choose another --out");
  }
  staging_ = target_.parent_path() / fmt::format(".{}.{}.tmp", target_.filename().string(), ::getpid());
  std::error_code error;
  if (!fs::create_directory(staging_, error)) {
    const fs::path name = std::exchange(staging_, fs::path());
    throw Error(
        fmt::format("cannot create {}: {}", name.string(), error ? error.message() : "it exists already"));
  }
}

StagedFolder::~StagedFolder() {
  std::error_code ignored;  // nothing can be done about it here
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
}

void StagedFolder::commit() {
  std::error_code error;
  fs::rename(staging_, target_, error);  // replaces an empty folder
  if (error) throw Error(fmt::format("cannot create {}: {}", target_.string(), error.message()));
  staging_.clear();
}

}  // namespace halo::datasets
