#include "halo/datasets/partitioned_dataset.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

#include "halo/base/error.hpp"
#include "halo/datasets/npy.hpp"

namespace halo::datasets {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const std::filesystem::path& folder, const std::string& what,
                         const std::string& found, const std::string& expected) {
  throw InputError({.what = what,
                    .where = (folder / kManifestName).string(),
                    .found = found,
                    .expected = expected,
                    .next = "partition the dataset again with gnn_partition"});
}

/// json[key] as T; `range` checks the value where T alone does not.
template <typename T>
T field(const Json& json, const char* key, const std::filesystem::path& folder) {
  const auto found = json.find(key);
  if (found == json.end())
    refuse(folder, fmt::format("the manifest has no \"{}\"", key), "", "a complete manifest");
  try {
    return found->get<T>();
  } catch (const Json::exception&) {
    refuse(folder, fmt::format("\"{}\" of the manifest has the wrong type", key), found->dump(), "");
  }
}

/// A count in [least, largest of T].
template <typename T>
T count_field(const Json& json, const char* key, const std::filesystem::path& folder, T least = 0) {
  const auto value = field<std::int64_t>(json, key, folder);
  if (!json[key].is_number_integer() || value < least || !std::in_range<T>(value)) {
    refuse(folder, fmt::format("\"{}\" of the manifest is out of range", key), json[key].dump(),
           fmt::format("an integer of at least {}", least));
  }
  return static_cast<T>(value);
}

PartitionedFile parse_file(const std::string& name, const Json& json, const std::filesystem::path& folder) {
  PartitionedFile file;
  file.name = name;
  file.dtype = field<std::string>(json, "dtype", folder);
  file.shape = field<std::vector<std::int64_t>>(json, "shape", folder);
  file.bytes = count_field<std::int64_t>(json, "bytes", folder);
  file.checksum_row = count_field<std::int64_t>(json, "checksum_row", folder);
  return file;
}

/// dtype and shape of an array.
using ArrayType = std::pair<std::string, std::vector<std::int64_t>>;

ArrayType expected_labels(const PartitionManifest& manifest) {
  if (manifest.task == kNodeClassification) return {"<i4", {manifest.num_nodes}};
  return {manifest.task == kMultiLabel ? "|u1" : "<f4", {manifest.num_nodes, manifest.num_classes}};
}

/// What a sliced file must be, from the counts.
ArrayType expected_array(const PartitionManifest& manifest, const std::string& name) {
  const bool small_ids = manifest.num_nodes <= std::numeric_limits<std::int32_t>::max();
  if (name.ends_with("indptr.npy")) return {"<i8", {manifest.num_nodes + 1}};
  if (name.ends_with("indices.npy")) return {small_ids ? "<i4" : "<i8", {manifest.num_edges}};
  if (name.ends_with("edge_weight.npy")) return {"<f4", {manifest.num_edges}};
  if (name == "features.npy") return {"<f4", {manifest.num_nodes, manifest.feature_cols}};
  if (name == "labels.npy") return expected_labels(manifest);
  if (name == "val_links.npy") return {"<i8", {manifest.links.validation, manifest.links.cols()}};
  if (name == "test_links.npy") return {"<i8", {manifest.links.test, manifest.links.cols()}};
  if (name == "split.npy") return {"|u1", {manifest.num_nodes}};
  return {"<i8", {manifest.num_nodes}};
}

/// Names of the unsliced files.
std::vector<std::string> whole_file_names(const PartitionManifest& manifest) {
  std::vector<std::string> names{"part_offsets.npy", "tile_offsets.npy", "group_offsets.npy",
                                 "checksums.npy"};
  if (manifest.task == kLinkPrediction)
    names.insert(names.end(), {"val_link_offsets.npy", "test_link_offsets.npy"});
  return names;
}

void check_files(const PartitionManifest& manifest, const std::filesystem::path& folder) {
  const auto names = sliced_file_names(manifest);
  for (std::size_t row = 0; row < names.size(); ++row) {
    const auto found = manifest.files.find(names[row]);
    if (found == manifest.files.end()) {
      refuse(folder, fmt::format("the manifest does not list {}", names[row]), "", "a complete manifest");
    }
    const PartitionedFile& file = found->second;
    const auto [dtype, shape] = expected_array(manifest, file.name);
    if (file.dtype != dtype || file.shape != shape) {
      refuse(folder, fmt::format("{} does not fit the counts of the manifest", file.name),
             fmt::format("{} [{}]", file.dtype, fmt::join(file.shape, ", ")),
             fmt::format("{} [{}]", dtype, fmt::join(shape, ", ")));
    }
    if (file.checksum_row != static_cast<std::int64_t>(row)) {
      refuse(folder, fmt::format("{} has a wrong row in checksums.npy", file.name),
             std::to_string(file.checksum_row), std::to_string(row));
    }
  }
  if (manifest.files.size() != names.size()) {
    refuse(folder, "the manifest lists files that do not belong to it", std::to_string(manifest.files.size()),
           fmt::format("{} files", names.size()));
  }
  for (const std::string& name : whole_file_names(manifest)) {
    if (!manifest.whole_file_checksums.contains(name)) {
      refuse(folder, fmt::format("the manifest has no checksum of {}", name), "", "a complete manifest");
    }
  }
}

void check_format(const Json& json, const std::filesystem::path& folder) {
  if (!json.is_object() || json.value("format", Json()) != kPartitionFormatName) {
    refuse(folder, "not a partitioned dataset",
           json.is_object() ? "some other JSON file" : "not a JSON object",
           fmt::format("\"format\": \"{}\"", kPartitionFormatName));
  }
  const auto version = field<std::int64_t>(json, "format_version", folder);
  if (version != kPartitionFormatVersion) {
    refuse(folder, "a partitioned dataset of another format version", std::to_string(version),
           std::to_string(kPartitionFormatVersion));
  }
}

Json parse_json(const std::string& text, const std::filesystem::path& folder) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    refuse(folder, "the manifest is not JSON", fmt::format("{} bytes that do not parse", text.size()),
           "the file as gnn_partition wrote it");
  }
  return json;
}

void check_length(const PartitionedFile& file, const std::filesystem::path& folder) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(folder / file.name, error);
  if (error || bytes != static_cast<std::uintmax_t>(file.bytes)) {
    throw InputError({.what = fmt::format("{} is {}", file.name,
                                          error ? "missing" : "cut or not the file that was written"),
                      .where = (folder / file.name).string(),
                      .found = error ? error.message() : fmt::format("{} bytes", bytes),
                      .expected = fmt::format("{} bytes", file.bytes),
                      .next = "copy the folder again, or partition the dataset again with gnn_partition"});
  }
}

void check_whole_file(const std::string& name, const std::string& expected,
                      const std::filesystem::path& folder) {
  std::error_code error;
  const bool present = std::filesystem::is_regular_file(folder / name, error);
  const std::string found = present ? file_checksum(folder / name) : "no such file";
  if (found != expected) {
    throw InputError(
        {.what = fmt::format("{} is {}", name, present ? "damaged or from another run" : "missing"),
         .where = (folder / name).string(),
         .found = present ? "checksum " + found : found,
         .expected = "checksum " + expected,
         .next = "copy the folder again, or partition the dataset again with gnn_partition"});
  }
}

}  // namespace

std::vector<std::string> sliced_file_names(const PartitionManifest& manifest) {
  const bool links = manifest.task == kLinkPrediction;
  std::vector<std::string> names{"indptr.npy", "indices.npy"};
  if (manifest.weighted) names.emplace_back("edge_weight.npy");
  if (!manifest.symmetric) {
    names.insert(names.end(), {"out_indptr.npy", "out_indices.npy"});
    if (manifest.weighted) names.emplace_back("out_edge_weight.npy");
  }
  if (manifest.feature_cols > 0) names.emplace_back("features.npy");
  if (!links) names.emplace_back("labels.npy");
  names.insert(names.end(), {"split.npy", "original_id.npy"});
  if (links) names.insert(names.end(), {"val_links.npy", "test_links.npy"});
  return names;
}

nlohmann::json to_json(const PartitionManifest& manifest) {
  Json files = Json::object();
  for (const auto& [name, file] : manifest.files) {
    files[name] = {{"dtype", file.dtype},
                   {"shape", file.shape},
                   {"bytes", file.bytes},
                   {"checksum_row", file.checksum_row}};
  }
  Json json = {{"format", kPartitionFormatName},
               {"format_version", manifest.format_version},
               {"name", manifest.name},
               {"num_nodes", manifest.num_nodes},
               {"num_edges", manifest.num_edges},
               {"feature_cols", manifest.feature_cols},
               {"num_classes", manifest.num_classes},
               {"task", manifest.task},
               {"symmetric", manifest.symmetric},
               {"weighted", manifest.weighted},
               {"parts", manifest.parts},
               {"tile_rows", manifest.tile_rows},
               {"tiles_per_group", manifest.tiles_per_group},
               {"train_nodes", manifest.train_nodes},
               {"val_nodes", manifest.val_nodes},
               {"test_nodes", manifest.test_nodes},
               {"run_id", manifest.run_id},
               {"files", files},
               {"whole_file_checksums", manifest.whole_file_checksums},
               {"options", manifest.options},
               {"quality", manifest.quality}};
  if (manifest.task == kLinkPrediction) {
    json["links"] = {{"validation", manifest.links.validation},
                     {"test", manifest.links.test},
                     {"negatives", manifest.links.negatives}};
  }
  return json;
}

void write_manifest(const std::filesystem::path& folder, const PartitionManifest& manifest) {
  write_text_file(folder / kManifestName, to_json(manifest).dump(2) + "\n");
}

PartitionManifest parse_manifest(const std::string& text, const std::filesystem::path& folder) {
  const Json json = parse_json(text, folder);
  check_format(json, folder);
  PartitionManifest manifest;
  manifest.name = field<std::string>(json, "name", folder);
  manifest.num_nodes = count_field<NodeId>(json, "num_nodes", folder, 1);
  manifest.num_edges = count_field<EdgeId>(json, "num_edges", folder);
  manifest.feature_cols = count_field<std::int64_t>(json, "feature_cols", folder);
  manifest.num_classes = count_field<std::int32_t>(json, "num_classes", folder);
  manifest.task = field<std::string>(json, "task", folder);
  if (std::find(kTasks.begin(), kTasks.end(), manifest.task) == kTasks.end())
    refuse(folder, "a task that this version does not know", manifest.task,
           fmt::format("one of {}", fmt::join(kTasks, ", ")));
  if (manifest.task == kLinkPrediction) {
    const Json links = field<Json>(json, "links", folder);
    manifest.links = {.validation = count_field<std::int64_t>(links, "validation", folder),
                      .test = count_field<std::int64_t>(links, "test", folder),
                      .negatives = count_field<std::int64_t>(links, "negatives", folder)};
  }
  manifest.symmetric = field<bool>(json, "symmetric", folder);
  manifest.weighted = field<bool>(json, "weighted", folder);
  manifest.parts = count_field<PartId>(json, "parts", folder, 1);
  manifest.tile_rows = count_field<std::int64_t>(json, "tile_rows", folder, 1);
  manifest.tiles_per_group = count_field<std::int64_t>(json, "tiles_per_group", folder, 1);
  manifest.train_nodes = count_field<std::int64_t>(json, "train_nodes", folder);
  manifest.val_nodes = count_field<std::int64_t>(json, "val_nodes", folder);
  manifest.test_nodes = count_field<std::int64_t>(json, "test_nodes", folder);
  manifest.run_id = field<std::string>(json, "run_id", folder);
  const auto files = field<std::map<std::string, Json>>(json, "files", folder);
  for (const auto& [name, file] : files) {
    manifest.files.emplace(name, parse_file(name, file, folder));
  }
  manifest.whole_file_checksums =
      field<std::map<std::string, std::string>>(json, "whole_file_checksums", folder);
  manifest.options = field<Json>(json, "options", folder);
  manifest.quality = field<Json>(json, "quality", folder);
  check_files(manifest, folder);
  return manifest;
}

PartitionManifest read_manifest(const std::filesystem::path& folder) {
  const auto problem = [&folder](const std::string& what, const std::string& next) {
    return InputError({.what = what,
                       .where = folder.string(),
                       .found = "",
                       .expected = "a folder that gnn_partition wrote",
                       .next = next});
  };
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) throw problem("no such folder", "check the path");
  if (!std::filesystem::exists(folder / kManifestName, error)) {
    throw problem("not a partitioned dataset, or an unfinished one: it has no partition.json",
                  "partition a dataset folder with gnn_partition");
  }
  std::ifstream stream(folder / kManifestName, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw problem("partition.json cannot be read", "check its permissions");
  PartitionManifest manifest = parse_manifest(text.str(), folder);
  for (const auto& [name, file] : manifest.files) check_length(file, folder);
  for (const auto& [name, checksum] : manifest.whole_file_checksums) check_whole_file(name, checksum, folder);
  return manifest;
}

struct ChecksumStream::State {
  State() : hash(XXH3_createState()) {
    if (hash == nullptr || XXH3_64bits_reset(hash) != XXH_OK) throw Error("no memory for a checksum");
  }
  ~State() { XXH3_freeState(hash); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  XXH3_state_t* hash;
};

ChecksumStream::ChecksumStream() : state_(std::make_unique<State>()) {}
ChecksumStream::~ChecksumStream() = default;
ChecksumStream::ChecksumStream(ChecksumStream&&) noexcept = default;
ChecksumStream& ChecksumStream::operator=(ChecksumStream&&) noexcept = default;

void ChecksumStream::update(const void* data, std::size_t bytes) {
  XXH3_64bits_update(state_->hash, data, bytes);
}

std::uint64_t ChecksumStream::take() {
  const std::uint64_t checksum = XXH3_64bits_digest(state_->hash);
  XXH3_64bits_reset(state_->hash);
  return checksum;
}

std::uint64_t slice_checksum(const void* data, std::size_t bytes) {
  return XXH3_64bits(data, bytes);
}

std::string file_checksum(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw Error(fmt::format("cannot read {}", path.string()));
  ChecksumStream checksum;
  std::vector<char> buffer(std::size_t{1} << 20);
  while (stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), stream.gcount() > 0) {
    checksum.update(buffer.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad()) throw Error(fmt::format("cannot read {}", path.string()));
  return fmt::format("{:016x}", checksum.take());
}

std::string make_run_id(std::span<const std::uint64_t> checksums,
                        const std::map<std::string, std::string>& whole_file_checksums) {
  std::string bytes;
  for (const std::uint64_t checksum : checksums) bytes += fmt::format("{:016x}", checksum);
  for (const auto& [name, checksum] : whole_file_checksums) bytes += name + checksum;
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace halo::datasets
