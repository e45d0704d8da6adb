// Which values may share memory? A stage runs all its operations on one tile before the next tile, and
// threads work on different tiles at a time, so within a stage "later in the list" does not mean "later in
// time" for other rows. Hence:
//   - values of one stage share a slot only row by row: the same number of columns, and the earlier one dead
//   at that line;
//   - a value that is summed over neighbours is read at any row until its stage ends;
//   - between stages anything dead is free.

#include "buffers.hpp"

#include <algorithm>
#include <limits>

#include "../traits.hpp"
#include "uses.hpp"

namespace halo::nn {
namespace {

struct Slot {
  std::int64_t elements = 0;
  std::int64_t cols = 0;       ///< of the value it holds or held last
  std::int32_t stage = kNone;  ///< where that value died
  bool used = false;
  bool row_by_row = true;  ///< the dead value was only read row by row in that stage
};

class SlotPlanner {
 public:
  SlotPlanner(Schedule& schedule, std::int64_t owned_rows) : schedule_(schedule), owned_rows_(owned_rows) {
    find_last_uses();
  }

  void run() {
    for (std::size_t s = 0; s < schedule_.stages.size(); ++s) {
      for (const std::int32_t position : schedule_.stages[s].operations) {
        place(position, static_cast<std::int32_t>(s));
      }
    }
    for (const Slot& slot : slots_) schedule_.slot_elements.push_back((slot.elements + 15) / 16 * 16);
  }

 private:
  /// Position after which a value is dead, and whether its last stage reads it at other rows than its own.
  void find_last_uses() {
    last_use_.assign(schedule_.program.values.size(), kNone);
    read_anywhere_.assign(schedule_.program.values.size(), kNone);
    for (std::size_t s = 0; s < schedule_.stages.size(); ++s) {
      const Stage& stage = schedule_.stages[s];
      for (const std::int32_t position : stage.operations) {
        const Operation& operation = schedule_.program.operations[at(position)];
        for (const ValueId input : operation.inputs) last_use_[at(input)] = position;
        if (const auto gather = gather_of(operation.kind)) {
          read_anywhere_[at(operation.inputs[gather->input])] = static_cast<std::int32_t>(s);
        }
      }
    }
    const auto& operations = schedule_.program.operations;
    const bool trains = std::any_of(operations.begin(), operations.end(), [](const Operation& operation) {
      return std::holds_alternative<op::Loss>(operation.kind) ||
             std::holds_alternative<op::ExternalLoss>(operation.kind);
    });
    if (!trains) last_use_[at(schedule_.program.logits)] = kNever;  // it is the result
  }

  void place(std::int32_t position, std::int32_t stage) {
    const Operation& operation = schedule_.program.operations[at(position)];
    std::vector<ValueId> dying = operation.inputs;
    std::sort(dying.begin(), dying.end());
    dying.erase(std::unique(dying.begin(), dying.end()), dying.end());
    std::erase_if(dying, [&](ValueId v) { return last_use_[at(v)] != position || slot_of(v) == kNone; });
    const auto begin = operation.inputs.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(protected_inputs(operation));
    const auto is_protected = [&](ValueId v) { return std::find(begin, end, v) != end; };
    for (const ValueId v : dying) {
      if (!is_protected(v)) release(v, stage);
    }
    if (operation.output != kNone) take(operation.output, stage);
    for (const ValueId v : dying) {
      if (is_protected(v)) release(v, stage);
    }
  }

  std::int32_t slot_of(ValueId value) const { return schedule_.placements[at(value)].slot; }

  void release(ValueId value, std::int32_t stage) {
    Slot& slot = slots_[at(slot_of(value))];
    slot.used = false;
    slot.stage = stage;
    slot.row_by_row = read_anywhere_[at(value)] != stage;
  }

  bool fits(const Slot& slot, std::int64_t cols, std::int32_t stage) const {
    if (slot.used) return false;
    return slot.stage < stage || (slot.row_by_row && slot.cols == cols);
  }

  /// Smallest free slot that is large enough, else the largest free one, made larger, else a new one.
  void take(ValueId value, std::int32_t stage) {
    const std::int64_t cols = schedule_.program.cols(value);
    const std::int64_t needed = (owned_rows_ + schedule_.halo_rows[at(value)]) * cols;
    std::int32_t best = kNone;
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      if (!fits(slots_[k], cols, stage)) continue;
      if (best == kNone || better(slots_[k].elements, slots_[at(best)].elements, needed)) {
        best = static_cast<std::int32_t>(k);
      }
    }
    if (best == kNone) {
      best = static_cast<std::int32_t>(slots_.size());
      slots_.emplace_back();
    }
    Slot& slot = slots_[at(best)];
    slot.used = true;
    slot.cols = cols;
    slot.elements = std::max(slot.elements, needed);
    schedule_.placements[at(value)].slot = best;
    // A result nobody reads (there is none after drop_unused, except before a pass runs) dies at once.
    if (last_use_[at(value)] == kNone) release(value, stage);
  }

  static bool better(std::int64_t candidate, std::int64_t best, std::int64_t needed) {
    if ((candidate >= needed) != (best >= needed)) return candidate >= needed;
    return candidate >= needed ? candidate < best : candidate > best;
  }

  static constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

  Schedule& schedule_;
  std::int64_t owned_rows_;
  std::vector<std::int32_t> last_use_;
  std::vector<std::int32_t> read_anywhere_;  ///< stage that sums over the value, or kNone
  std::vector<Slot> slots_;
};

}  // namespace

void place_in_slots(Schedule& schedule, std::int64_t owned_rows) {
  SlotPlanner(schedule, owned_rows).run();
}

}  // namespace halo::nn
