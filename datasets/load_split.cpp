#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "halo/base/error.hpp"
#include "load_parts.hpp"

namespace halo::datasets {
namespace {

struct SplitName {
  const char* name;
  Split split;
};
constexpr SplitName kSplits[] = {
    {"train", Split::kTrain}, {"val", Split::kValidation}, {"test", Split::kTest}};

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& found,
                         const std::string& expected) {
  throw InputError(
      {.what = what, .where = where, .found = found, .expected = expected, .next = "correct the array"});
}

const char* name_of(Split split) {
  for (const auto& entry : kSplits) {
    if (entry.split == split) return entry.name;
  }
  return "no";
}

/// Bytes are masks, wider integers are node ids.
bool is_mask(const NpyHeader& header) {
  return header.kind == 'b' || (header.kind == 'u' && header.item_size == 1);
}

std::vector<NodeId> ids_of_mask(const std::vector<std::uint8_t>& mask, const std::string& where) {
  std::vector<NodeId> ids;
  for (std::size_t node = 0; node < mask.size(); ++node) {
    if (mask[node] > 1) {
      refuse("a mask holds something else than 0 and 1", fmt::format("{}, node {}", where, node),
             fmt::format("{}", mask[node]), "0 or 1");
    }
    if (mask[node] == 1) ids.push_back(static_cast<NodeId>(node));
  }
  return ids;
}

std::vector<NodeId> read_ids(const NpyArray& array, NodeId num_nodes) {
  const auto& header = array.header();
  if (header.shape.size() != 1 || (is_mask(header) && header.shape[0] != num_nodes) || header.kind == 'f') {
    refuse("a split has the wrong shape or type", array.name(),
           fmt::format("{} of {}", format_shape(header.shape), header.dtype()),
           fmt::format("node ids (32- or 64-bit integers), or a mask [{}] of bool or uint8", num_nodes));
  }
  if (is_mask(header)) return ids_of_mask(array.read<std::uint8_t>(), array.name());
  return array.read<std::int64_t>();
}

std::vector<NodeId> read_mask_row(const NpyArray& array, std::int64_t row, NodeId num_nodes) {
  const auto& shape = array.shape();
  if (shape.size() != 2 || shape[1] != num_nodes || array.header().kind == 'f') {
    refuse("split masks have the wrong shape or type", array.name(),
           fmt::format("{} of {}", format_shape(shape), array.header().dtype()),
           fmt::format("[splits, {}] of bool or uint8", num_nodes));
  }
  if (row < 0 || row >= shape[0]) {
    throw InputError({.what = "there is no such split",
                      .where = array.name(),
                      .found = fmt::format("split {} asked for", row),
                      .expected = fmt::format("0 to {}", shape[0] - 1),
                      .next = "choose another --split"});
  }
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(num_nodes));
  array.read_rows<std::uint8_t>({row, row + 1}, mask);
  return ids_of_mask(mask, array.name());
}

void assign(const std::vector<NodeId>& ids, const SplitName& split, const std::string& where,
            Dataset& dataset) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const NodeId node = ids[i];
    const auto place = [&] { return fmt::format("{}, node {}", where, node); };
    if (node < 0 || node >= dataset.num_nodes) {
      refuse("a split names a node that does not exist", fmt::format("{}, position {}", where, i),
             fmt::format("node {}", node), fmt::format("0 to {}", dataset.num_nodes - 1));
    }
    Split& current = dataset.split[static_cast<std::size_t>(node)];
    if (current == split.split)
      refuse("a split names a node twice", place(), "a duplicate", "every node once");
    if (current != Split::kNone) {
      refuse("two splits overlap", place(), fmt::format("the node is in the {} split too", name_of(current)),
             "splits without common nodes");
    }
    if (!dataset.has_label(node)) {
      refuse(fmt::format("a node of the {} split has no label", split.name), place(),
             dataset.has_labels() ? "label -1 or NaN (unknown)" : "no labels.npy", "a known label");
    }
    current = split.split;
  }
}

}  // namespace

void read_split(const ArrayFolder& arrays, const LoadOptions& options, Dataset& dataset) {
  dataset.split.assign(static_cast<std::size_t>(dataset.num_nodes), Split::kNone);
  if (dataset.task == kLinkPrediction) return;
  const auto exists = [&](const char* suffix) {
    return std::any_of(std::begin(kSplits), std::end(kSplits),
                       [&](const SplitName& split) { return arrays.has(std::string(split.name) + suffix); });
  };
  const bool use_masks = options.split || (!exists("_idx") && exists("_masks"));
  if (options.split && !exists("_masks")) {
    throw InputError({.what = "the dataset has no numbered splits",
                      .where = arrays.path().string(),
                      .found = fmt::format("split {} asked for, no train_masks.npy", *options.split),
                      .expected = "train_masks, val_masks, test_masks of shape [splits, nodes]",
                      .next = "leave --split away"});
  }
  if (use_masks && !options.split) spdlog::info("{}: taking split 0 of its masks", arrays.path().string());
  for (const auto& split : kSplits) {
    const auto array = arrays.find(std::string(split.name) + (use_masks ? "_masks" : "_idx"));
    if (!array) continue;
    const auto ids = use_masks ? read_mask_row(*array, options.split.value_or(0), dataset.num_nodes)
                               : read_ids(*array, dataset.num_nodes);
    assign(ids, split, array->name(), dataset);
  }
}

}  // namespace halo::datasets
