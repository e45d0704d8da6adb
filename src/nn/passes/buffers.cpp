// Where do values live? One that is made and read within a stage, row by row, needs room for a tile alone: it
// stays in the scratch memory of the thread that runs the tile, and need never leave the cache. All others
// have a row for every node in the arena.
//
// Which values may share memory? A stage runs all its operations on one tile before the next tile, and
// threads work on different tiles at a time, so in the arena "later in the list" does not mean "later in
// time" for other rows. Hence:
//   - between stages anything dead is free;
//   - within a stage a value may take the place of one that is dead at that line row by row: the same number
//     of columns, the same beginning;
//   - a value that is summed over neighbours is read at any row until its stage ends.
// Scratch belongs to one tile at a time: there anything dead is free.
//
// Large values get the lowest place that their neighbours in time leave free, then smaller ones.

#include "buffers.hpp"

#include <algorithm>
#include <limits>

#include "../traits.hpp"
#include "uses.hpp"

namespace halo::nn {
namespace {

constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

/// From the operation that makes a value to the last that reads it, as positions in the program.
struct Life {
  ValueId value = kNone;
  std::int64_t elements = 0;
  std::int64_t cols = 0;
  std::int32_t born = kNone;
  std::int32_t dies = kNone;
  std::int32_t first_stage = kNone;
  std::int32_t last_stage = kNone;
  bool anywhere = false;       ///< its last stage reads it at other rows than the tile's
  bool leaves = false;         ///< read in another stage, at other rows, or by the caller
  bool kept_at_death = false;  ///< the operation that reads it last has written its output before
};

enum class Sharing { kFree, kSameRows, kApart };

/// `a` and `b`, one of them born first, in the arena or in scratch.
Sharing sharing(const Life& a, const Life& b, bool scratch) {
  if (b.born < a.born) return sharing(b, a, scratch);
  if (scratch ? a.dies < b.born : a.last_stage < b.first_stage) return Sharing::kFree;
  const bool dead = a.dies < b.born || (a.dies == b.born && !a.kept_at_death);
  return dead && a.cols == b.cols && !a.anywhere ? Sharing::kSameRows : Sharing::kApart;
}

std::vector<Life> find_lives(const Schedule& schedule, const RowCounts& rows) {
  const Program& program = schedule.program;
  std::vector<Life> lives(program.values.size());
  for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
    const auto stage = static_cast<std::int32_t>(s);
    for (const std::int32_t position : schedule.stages[s].operations) {
      const Operation& operation = program.operations[at(position)];
      for (std::size_t k = 0; k < operation.inputs.size(); ++k) {
        Life& life = lives[at(operation.inputs[k])];
        const bool kept = k < protected_inputs(operation);
        life.kept_at_death = kept || (life.dies == position && life.kept_at_death);
        life.anywhere = life.anywhere && life.last_stage == stage;
        life.leaves = life.leaves || life.first_stage != stage;
        life.dies = position;
        life.last_stage = stage;
      }
      if (const auto gather = gather_of(operation.kind)) {
        Life& life = lives[at(operation.inputs[gather->input])];
        life.anywhere = life.leaves = true;
      }
      if (operation.output == kNone) continue;
      Life& life = lives[at(operation.output)];
      life.value = operation.output;
      life.cols = program.cols(operation.output);
      life.born = life.dies = position;
      life.first_stage = life.last_stage = stage;
    }
  }
  const bool trains = std::any_of(program.operations.begin(), program.operations.end(), [](const auto& o) {
    return std::holds_alternative<op::Loss>(o.kind) || std::holds_alternative<op::ExternalLoss>(o.kind);
  });
  if (!trains) {  // the result
    Life& life = lives[at(program.logits)];
    life.dies = life.last_stage = kNever;
    life.leaves = true;
  }
  std::erase_if(lives, [](const Life& life) { return life.value == kNone; });  // constants
  for (Life& life : lives) {
    life.elements = (life.leaves ? rows.owned + schedule.halo_rows[at(life.value)] : rows.tile) * life.cols;
  }
  return lives;
}

struct Block {
  Life life;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Beginnings are whole cache lines apart.
std::int64_t whole_lines(std::int64_t elements) {
  return (elements + 15) / 16 * 16;
}

/// Lowest place for a value among those that have theirs.
std::int64_t find_place(const Life& life, const std::vector<Block>& blocks, bool scratch) {
  std::vector<std::int64_t> candidates{0};
  for (const Block& block : blocks) {
    const Sharing how = sharing(life, block.life, scratch);
    if (how != Sharing::kFree) candidates.push_back(block.end);
    if (how == Sharing::kSameRows) candidates.push_back(block.begin);
  }
  std::sort(candidates.begin(), candidates.end());
  const auto fits = [&](std::int64_t begin) {
    const std::int64_t end = begin + whole_lines(life.elements);
    return std::all_of(blocks.begin(), blocks.end(), [&](const Block& block) {
      const Sharing how = sharing(life, block.life, scratch);
      return how == Sharing::kFree || end <= block.begin || block.end <= begin ||
             (how == Sharing::kSameRows && block.begin == begin);
    });
  };
  return *std::find_if(candidates.begin(), candidates.end(), fits);  // behind all others it fits
}

/// Gives each value its place; returns the size of the whole.
std::int64_t place(std::vector<Life> lives, bool scratch, std::vector<Placement>& placements) {
  std::stable_sort(lives.begin(), lives.end(),
                   [](const Life& a, const Life& b) { return a.elements > b.elements; });
  std::vector<Block> blocks;
  std::int64_t size = 0;
  for (const Life& life : lives) {
    const std::int64_t begin = find_place(life, blocks, scratch);
    blocks.push_back({life, begin, begin + whole_lines(life.elements)});
    size = std::max(size, blocks.back().end);
    placements[at(life.value)].memory = scratch ? Memory::kScratch : Memory::kArena;
    placements[at(life.value)].offset = begin;
  }
  return size;
}

}  // namespace

void place_in_buffers(Schedule& schedule, const RowCounts& rows) {
  std::vector<Life> leaving = find_lives(schedule, rows);
  std::vector<Life> staying = leaving;
  std::erase_if(leaving, [](const Life& life) { return !life.leaves; });
  std::erase_if(staying, [](const Life& life) { return life.leaves; });
  schedule.arena_elements = place(std::move(leaving), false, schedule.placements);
  schedule.scratch_elements = place(std::move(staying), true, schedule.placements);
}

}  // namespace halo::nn
