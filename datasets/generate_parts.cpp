#include "generate_parts.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "halo/base/error.hpp"

namespace halo::datasets {
namespace {

/// Rows are m(class) + noise, see PlantedOptions.
class PlantedRows {
 public:
  PlantedRows(const Dataset& dataset, const PlantedOptions& options)
      : cols_(static_cast<std::size_t>(options.features)),
        noise_(random_numbers(options.seed, Purpose::kNoise)),
        labels_(std::make_shared<std::vector<std::int32_t>>(dataset.labels)) {
    auto means = std::make_shared<std::vector<float>>();
    const CounterRng directions = random_numbers(options.seed, Purpose::kClassMeans);
    for (std::int32_t label = 0; label < dataset.num_classes; ++label) {
      RandomStream stream(directions.row_key(label));
      std::vector<double> direction(cols_);
      for (double& value : direction) value = stream.normal();
      const double length =
          std::sqrt(std::inner_product(direction.begin(), direction.end(), direction.begin(), 0.0));
      for (const double value : direction)
        means->push_back(static_cast<float>(value / length * options.signal));
    }
    means_ = std::move(means);
  }

  void operator()(NodeId node, std::span<float> out) const {
    const auto label = static_cast<std::size_t>((*labels_)[static_cast<std::size_t>(node)]);
    const float* mean = means_->data() + label * cols_;
    RandomStream stream(noise_.row_key(node));
    for (std::size_t col = 0; col < cols_; ++col) out[col] = mean[col] + static_cast<float>(stream.normal());
  }

 private:
  std::size_t cols_;
  CounterRng noise_;
  std::shared_ptr<const std::vector<std::int32_t>> labels_;
  std::shared_ptr<const std::vector<float>> means_;
};

std::int64_t node_count(double size, NodeId num_nodes, const std::string& option) {
  const bool fraction = size >= 0 && size < 1;
  require(fraction || (std::isfinite(size) && size >= 1 && std::trunc(size) == size && size < 0x1p31), option,
          size, "a fraction from 0 to below 1, or a whole number of nodes");
  return static_cast<std::int64_t>(fraction ? std::floor(size * static_cast<double>(num_nodes) + 0.5) : size);
}

void draw_split(Dataset& dataset, const PlantedOptions& options) {
  const NodeId nodes = dataset.num_nodes;
  const std::int64_t train = node_count(options.split.train, nodes, "--train");
  const std::int64_t val = node_count(options.split.val, nodes, "--val");
  std::int64_t test = node_count(options.split.test, nodes, "--test");
  // Fractions that sum to one may exceed the nodes by rounding.
  if (options.split.test < 1 && train + val + test <= nodes + 2) test = std::min(test, nodes - train - val);
  require(test >= 0 && train + val + test <= nodes, "--train + --val + --test",
          static_cast<double>(train + val + std::max<std::int64_t>(test, 0)),
          fmt::format("at most {} nodes in all", nodes));
  const auto order = random_order(nodes, options.seed, Purpose::kSplit);
  dataset.split.assign(static_cast<std::size_t>(nodes), Split::kNone);
  for (std::int64_t i = 0; i < train + val + test; ++i) {
    const auto node = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
    dataset.split[node] = i < train ? Split::kTrain : i < train + val ? Split::kValidation : Split::kTest;
  }
}

}  // namespace

void require(bool good, const std::string& option, double found, const std::string& expected) {
  if (good) return;
  throw InputError({.what = "an option is out of range",
                    .where = option,
                    .found = fmt::format("{}", found),
                    .expected = expected,
                    .next = "see gnn_dataset --help"});
}

void check_node_count(std::int64_t nodes, const std::string& option) {
  require(nodes >= 1 && nodes <= std::numeric_limits<SmallId>::max(), option, static_cast<double>(nodes),
          "1 to 2^31 - 1 nodes");
}

std::vector<SmallId> random_order(std::int64_t count, std::uint64_t seed, Purpose purpose) {
  std::vector<SmallId> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  RandomStream stream(random_numbers(seed, purpose).row_key(0));
  for (std::size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[stream.below(left)]);
  return order;
}

void plant(Dataset& dataset, const PlantedOptions& options) {
  require(options.features >= 0 && options.features <= 1 << 20, "--features",
          static_cast<double>(options.features), "0 to 2^20 columns");
  require(std::isfinite(options.signal) && options.signal >= 0 && options.signal < 1e6, "--signal",
          options.signal, "0 to 10^6");
  if (options.features > 0) {
    dataset.features = std::make_shared<ComputedFeatures>(dataset.num_nodes, options.features,
                                                          PlantedRows(dataset, options));
  }
  draw_split(dataset, options);
}

}  // namespace halo::datasets
