#include "halo/nn/memory.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "constants.hpp"
#include "halo/nn/row_sums.hpp"
#include "passes/uses.hpp"
#include "traits.hpp"

namespace halo::nn {
namespace {

constexpr auto kReal = static_cast<std::int64_t>(sizeof(float));
constexpr int kAll = graph::kLastLevel;

/// Which pages of the arena are ever written to.
class Pages {
 public:
  explicit Pages(std::int64_t bytes) : bytes_(bytes), page_(bytes >= 2 * kHugePage ? kHugePage : kPage) {
    touched_.resize(at((bytes + page_ - 1) / page_), false);
  }
  void touch(std::int64_t begin, std::int64_t end) {
    if (begin >= end) return;
    for (std::int64_t page = begin / page_; page <= (end - 1) / page_; ++page) touched_[at(page)] = true;
  }
  std::int64_t bytes() const { return std::min(bytes_, std::ranges::count(touched_, true) * page_); }

 private:
  static constexpr std::int64_t kPage = 4096;
  static constexpr std::int64_t kHugePage = std::int64_t{2} << 20;
  std::int64_t bytes_;
  std::int64_t page_;
  std::vector<bool> touched_;
};

/// Rows that an epoch writes of the values of a schedule.
void touch_values(const Schedule& schedule, const graph::ShareCounts& counts, Pages& pages) {
  for (std::size_t k = 0; k < schedule.program.operations.size(); ++k) {
    const ValueId value = schedule.program.operations[k].output;
    if (value == kNone || schedule.placements[at(value)].memory != Memory::kArena) continue;
    const std::int64_t begin = schedule.placements[at(value)].offset;
    const std::int64_t cols = schedule.program.cols(value);
    const int level = std::max(schedule.rows[k].compute, schedule.rows[k].fill);
    for (const graph::Tile& tile : counts.tiles) {
      if (tile.level > level) continue;
      pages.touch((begin + tile.rows.begin * cols) * kReal, (begin + tile.rows.end * cols) * kReal);
    }
  }
}

void touch_halo(const Schedule& schedule, const graph::ShareCounts& counts, Pages& pages) {
  for (const Stage& stage : schedule.stages) {
    if (stage.gathered == kNone || schedule.placements[at(stage.gathered)].memory != Memory::kArena) continue;
    const bool in = counts.symmetric || stage.direction == Direction::kIn;
    const graph::EdgeCounts& edges = in ? counts.in : counts.out;
    if (graph::count_to_level(edges.halo, stage.level) == 0) continue;
    const std::int64_t cols = schedule.program.cols(stage.gathered);
    const std::int64_t begin = schedule.placements[at(stage.gathered)].offset + counts.owned * cols;
    pages.touch(begin * kReal, (begin + edges.halo_rows() * cols) * kReal);
  }
}

std::int64_t touched_bytes(const Schedules& schedules, const graph::ShareCounts& counts, std::int64_t arena) {
  Pages pages(arena);
  for (const Schedule* schedule : {&schedules.train, &schedules.evaluation}) {
    touch_values(*schedule, counts, pages);
    touch_halo(*schedule, counts, pages);
  }
  return pages.bytes();
}

/// As Executor::fold_constants() makes them and lets go of them; bytes by key.
class Folding {
 public:
  explicit Folding(std::int64_t owned) : owned_(owned) {}

  void fold(const Schedule& schedule) {
    std::vector<std::string> made;
    for (const Stage& stage : schedule.constant_stages) {
      for (const std::int32_t position : stage.operations) {
        const Operation& operation = schedule.program.operations[at(position)];
        const ValueId value = operation.output;
        const std::string& key = schedule.placements[at(value)].constant;
        if (is_features(schedule, value, operation) || held_.contains(key)) continue;
        held_[key] = (owned_ + schedule.halo_rows[at(value)]) * schedule.program.cols(value) * kReal;
        made.push_back(key);
      }
    }
    most_ = std::max(most_, held());
    for (const std::string& key : made) {
      if (!stays(schedule, key)) held_.erase(key);
    }
  }
  std::int64_t held() const {
    std::int64_t bytes = 0;
    for (const auto& [key, of_key] : held_) bytes += of_key;
    return bytes;
  }
  std::int64_t most() const { return most_; }

 private:
  std::int64_t owned_;
  std::map<std::string, std::int64_t> held_;
  std::int64_t most_ = 0;
};

std::int64_t level_bytes(const Schedule& train, const graph::ShareCounts& counts, bool weighted) {
  if (!counts.has_levels) return 0;
  std::map<std::pair<Direction, int>, std::int64_t> copies;
  for (std::size_t k = 0; k < train.rows.size(); ++k) {
    const auto gather = gather_of(train.program.operations[k].kind);
    const int level = train.rows[k].edges;
    if (!gather || level == kAll) continue;
    const graph::EdgeCounts& edges = gather->direction == Direction::kIn ? counts.in : counts.out;
    const std::int64_t of_edge = static_cast<std::int64_t>(sizeof(LocalId) + (weighted ? sizeof(float) : 0));
    copies[{gather->direction, level}] = edges.training_edges(kAll, level) * of_edge +
                                         (counts.owned + 1) * static_cast<std::int64_t>(sizeof(EdgeId));
  }
  std::int64_t bytes = 0;
  for (const auto& [key, of_copy] : copies) bytes += of_copy;
  return bytes;
}

std::int64_t factor_bytes(const Schedule& schedule, const graph::ShareCounts& counts) {
  std::int64_t bytes = 3 * counts.owned * kReal;
  const bool ids = std::ranges::any_of(schedule.program.operations, [](const Operation& operation) {
    return needs_neighbour_ids(operation.kind);
  });
  if (!ids) return bytes;
  std::int64_t rows = counts.owned + counts.in.halo_rows();
  if (!counts.symmetric) rows += counts.owned + counts.out.halo_rows();
  return bytes + rows * static_cast<std::int64_t>(sizeof(NodeId));
}

}  // namespace

MemoryForecast forecast_memory(const Schedules& schedules, const graph::ShareCounts& counts,
                               const ForecastOptions& options) {
  Folding folding(counts.owned);
  folding.fold(schedules.train);
  folding.fold(schedules.evaluation);
  MemoryForecast forecast;
  MemoryPlan& held = forecast.held;
  held.arena = std::max(schedules.train.arena_elements, schedules.evaluation.arena_elements) * kReal;
  held.scratch = std::max(schedules.train.scratch_elements, schedules.evaluation.scratch_elements) * kReal *
                 options.threads;
  held.constants = folding.held();
  held.sums = RowSums<float>(schedules.train.program, options.classes, 1).bytes() * options.threads;
  for (const ParameterId weight : transposed_weights(schedules.train.program)) {
    held.weights += schedules.train.program.parameter(weight).size() * kReal;
  }
  held.row_factors = factor_bytes(schedules.train, counts);
  if (options.two_graphs) held.row_factors += factor_bytes(schedules.evaluation, counts);
  held.edges_to_level = level_bytes(schedules.train, counts, options.weighted);
  forecast.arena_touched = touched_bytes(schedules, counts, held.arena);
  forecast.folding = folding.most() - folding.held();
  return forecast;
}

}  // namespace halo::nn
