#include "halo/train/gather_choice.hpp"

#include <algorithm>

namespace halo::train {
namespace {

constexpr auto kAllRows = static_cast<std::int8_t>(graph::kLastLevel);

}  // namespace

GatherChoice::GatherChoice(std::span<const nn::GatherShape> shapes, bool symmetric, bool has_levels,
                           const SentRows& sent)
    : symmetric_(symmetric), has_levels_(has_levels) {
  for (const nn::GatherShape& shape : shapes) {
    const Key key = wanted(shape.direction, shape.level);
    const graph::ByLevel& rows = sent[key.first == nn::Direction::kIn ? 0 : 1];
    const std::int64_t some = graph::count_to_level(rows, key.second);
    const bool worth = some * 4 <= graph::count_to_level(rows, kAllRows) * 3;
    const Key chosen = {key.first, worth ? key.second : kAllRows};
    chosen_[key] = chosen;
    cols_[chosen] = std::max(cols_[chosen], shape.cols);
  }
}

GatherChoice::Key GatherChoice::wanted(nn::Direction direction, std::int8_t level) const {
  return {symmetric_ ? nn::Direction::kIn : direction, has_levels_ ? level : kAllRows};
}

}  // namespace halo::train
