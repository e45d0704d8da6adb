#include "halo/datasets/array_folder.hpp"

#include "halo/base/error.hpp"

namespace halo::datasets {
namespace {

class PlainFolder : public ArrayFolder {
 public:
  explicit PlainFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::shared_ptr<const ByteSource> find_file(const std::string& name) const override {
    return has_file(name) ? open_file(path_ / name) : nullptr;
  }
  bool has_file(const std::string& name) const override { return std::filesystem::exists(path_ / name); }
  const std::filesystem::path& path() const override { return path_; }

 private:
  std::filesystem::path path_;
};

/// The one .npz file of a folder; empty if there is none or more than one.
std::filesystem::path only_npz(const std::filesystem::path& folder) {
  std::filesystem::path found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".npz") continue;
    if (!found.empty()) return {};
    found = entry.path();
  }
  return found;
}

}  // namespace

std::optional<NpyArray> ArrayFolder::find(const std::string& key) const {
  auto source = find_file(key + ".npy");
  if (!source) return std::nullopt;
  return NpyArray(std::move(source));
}

NpyArray ArrayFolder::get(const std::string& key) const {
  if (auto array = find(key)) return *std::move(array);
  throw InputError({.what = "an array of the dataset is missing",
                    .where = path().string(),
                    .found = "no " + key + ".npy",
                    .expected = "a dataset folder or .npz with " + key,
                    .next = "see datasets/README.md for the format"});
}

std::shared_ptr<const ArrayFolder> open_arrays(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    if (!std::filesystem::exists(path / "edge_index.npy")) {
      if (const auto archive = only_npz(path); !archive.empty()) return open_npz(archive);
    }
    return std::make_shared<PlainFolder>(path);
  }
  if (std::filesystem::exists(path, error)) return open_npz(path);
  throw InputError({.what = "the dataset does not exist",
                    .where = path.string(),
                    .found = "nothing of that name",
                    .expected = "a dataset folder or a .npz file",
                    .next = "check the path, or make one with gnn_dataset generate"});
}

}  // namespace halo::datasets
