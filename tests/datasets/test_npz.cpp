#include <doctest/doctest.h>
#include <zip.h>

#include "halo/datasets/array_folder.hpp"
#include "halo/datasets/dataset.hpp"
#include "small_dataset.hpp"

namespace halo::datasets {
namespace {

/// Packs every .npy file of a folder, as numpy.savez does.
void pack(const std::filesystem::path& folder, const std::filesystem::path& archive_path,
          zip_int32_t method) {
  zip_t* archive = zip_open(archive_path.c_str(), ZIP_CREATE | ZIP_EXCL, nullptr);
  REQUIRE(archive != nullptr);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    zip_source_t* source = zip_source_file(archive, entry.path().c_str(), 0, -1);
    const auto index = zip_file_add(archive, entry.path().filename().c_str(), source, 0);
    REQUIRE(index >= 0);
    REQUIRE(zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), method, 0) == 0);
  }
  REQUIRE(zip_close(archive) == 0);
}

/// Position of a 4-byte little-endian record mark; the last one where `last`.
std::size_t find_mark(const std::string& bytes, const std::string& mark, bool last) {
  const auto at = last ? bytes.rfind(mark) : bytes.find(mark);
  REQUIRE(at != std::string::npos);
  return at;
}

}  // namespace

TEST_CASE("an archive is the same as its folder") {
  SmallDataset data;
  TemporaryFolder folder;
  for (const zip_int32_t method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    const auto path = folder / (method == ZIP_CM_STORE ? "stored.npz" : "deflated.npz");
    pack(data.path(), path, method);
    const Dataset dataset = load_dataset(path);
    CHECK(dataset.name == path.stem().string());
    CHECK(dataset.targets == std::vector<NodeId>{1, 2, 3});
    CHECK(dataset.labels == std::vector<std::int32_t>{0, 1, 1, -1});
    CHECK(dataset.split[2] == Split::kTest);
    std::vector<float> row(2);
    dataset.features->read_rows(RowRange{3, 4}, row);
    CHECK(row == std::vector<float>{6, 7});
  }
  // Two archives in the folder: it is not clear which one is meant.
  CHECK(contains(input_error_of([&] { load_dataset(folder.path()); }), "edge_index"));
  std::filesystem::remove(folder / "stored.npz");
  CHECK(load_dataset(folder.path()).num_edges() == 3);
}

TEST_CASE("damaged archives are refused") {
  SmallDataset data;
  TemporaryFolder folder;
  const auto path = folder / "data.npz";
  pack(data.path(), path, ZIP_CM_STORE);
  const std::string good = read_bytes(path);
  const auto error = [&] { return input_error_of([&] { load_dataset(path); }); };
  SUBCASE("cut") {
    write_bytes(path, good.substr(0, good.size() / 2));
    CHECK(contains(error(), "data.npz"));
  }
  SUBCASE("not an archive") {
    write_bytes(path, "something else");
    CHECK(contains(error(), "data.npz"));
  }
  SUBCASE("a flipped byte in the data of a member") {
    // edge_index ends with the bytes of 2 and 3.
    const std::string tail{2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0};
    std::string bad = good;
    bad[find_mark(good, tail, false) + 8] = 1;
    write_bytes(path, bad);
    CHECK(contains(error(), "edge_index"));
  }
  SUBCASE("a member that promises more than the archive holds") {
    // The central directory's entry: mark, ..., compressed size at 20, size at 24.
    std::string bad = good;
    for (auto at = good.find("PK\1\2"); at != std::string::npos; at = good.find("PK\1\2", at + 4)) {
      for (std::size_t i = 24; i < 28; ++i) bad[at + i] = '\x7F';
    }
    write_bytes(path, bad);
    CHECK(contains(error(), "npz"));
  }
}

}  // namespace halo::datasets
