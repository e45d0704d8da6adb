#include "generate_parts.hpp"

namespace halo::datasets {
namespace {

constexpr NodeId kMembers = 34;
constexpr SmallId kInstructor = 0, kPresident = 33;

/// Friends of each member with a larger number.
const std::vector<std::vector<SmallId>>& friendships() {
  static const std::vector<std::vector<SmallId>> table = {
      {1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31},
      {2, 3, 7, 13, 17, 19, 21, 30},
      {3, 7, 8, 9, 13, 27, 28, 32},
      {7, 12, 13},
      {6, 10},
      {6, 10, 16},
      {16},
      {},
      {30, 32, 33},
      {33},
      {},
      {},
      {},
      {33},
      {32, 33},
      {32, 33},
      {},
      {},
      {32, 33},
      {33},
      {32, 33},
      {},
      {32, 33},
      {25, 27, 29, 32, 33},
      {25, 27, 31},
      {31},
      {29, 33},
      {33},
      {31, 33},
      {32, 33},
      {32, 33},
      {32, 33},
      {33},
      {}};
  return table;
}

/// Who stayed with the instructor when the club split.
constexpr SmallId kWithInstructor[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 16, 17, 19, 21};

}  // namespace

Dataset generate_karate() {
  Dataset dataset;
  dataset.name = "karate";
  dataset.num_nodes = kMembers;
  dataset.num_classes = 2;
  EdgeBlocks blocks(1);
  for (SmallId member = 0; member < kMembers; ++member) {
    for (const SmallId other : friendships()[static_cast<std::size_t>(member)])
      blocks[0].push_back({member, other});
  }
  set_edges(dataset, std::move(blocks), Direction::kBothWays, 1);
  dataset.labels.assign(kMembers, 1);
  for (const SmallId member : kWithInstructor) dataset.labels[static_cast<std::size_t>(member)] = 0;
  dataset.features =
      std::make_shared<ComputedFeatures>(kMembers, kMembers, [](NodeId node, std::span<float> out) {
        std::fill(out.begin(), out.end(), 0.0F);
        out[static_cast<std::size_t>(node)] = 1.0F;
      });
  dataset.split.assign(kMembers, Split::kTest);
  for (const SmallId member : {kInstructor, kPresident})
    dataset.split[static_cast<std::size_t>(member)] = Split::kTrain;
  for (const std::size_t member : {1U, 7U, 27U, 32U}) dataset.split[member] = Split::kValidation;
  return dataset;
}

}  // namespace halo::datasets
