// Which rows does the loss depend on? Rows have levels (halo/graph/row_levels.hpp): the loss is a sum over
// level 0, and each sum over neighbours on the way back to the features adds one.
//
//   forward   a value is needed in the rows of those who read it; one that is summed over neighbours, in one
//             level more
//   backward  a gradient is zero beyond the level that the value was needed to; one that is summed over
//             neighbours gives one that is not zero in one level more, and only its own level is summed
//
// Rows that are needed but zero (where a gradient has parts of different levels) are filled with zeros.
// Dropping a term that is zero changes no bit of a sum, so the results are those of all rows.

#include "row_levels.hpp"

#include <algorithm>

#include "../traits.hpp"

namespace halo::nn {
namespace {

constexpr std::int8_t kAll = static_cast<std::int8_t>(graph::kLastLevel);

std::int8_t next_level(std::int8_t level) {
  return std::min(static_cast<std::int8_t>(level + 1), kAll);
}

class RowLevels {
 public:
  explicit RowLevels(const Program& program)
      : program_(program),
        is_gradient_(program.values.size(), false),
        nonzero_(program.values.size(), kAll),
        needed_(program.values.size(), kNoRows) {}

  void find(Schedule& schedule) {
    const auto loss = std::find_if(
        program_.operations.begin(), program_.operations.end(),
        [](const Operation& operation) { return std::holds_alternative<op::Loss>(operation.kind); });
    schedule.rows.assign(program_.operations.size(), {});
    schedule.nonzero.assign(program_.values.size(), kAll);
    if (loss == program_.operations.end()) return;
    for (auto operation = loss; operation != program_.operations.end(); ++operation) mark_nonzero(*operation);
    for (std::size_t k = program_.operations.size(); k-- > 0;)
      schedule.rows[k] = demand(program_.operations[k]);
    schedule.nonzero = nonzero_;
  }

 private:
  /// Highest level in which one of the inputs that are gradients is not zero; kNoRows without such inputs.
  std::int8_t nonzero_input(const Operation& operation) const {
    std::int8_t level = kNoRows;
    for (const ValueId input : operation.inputs) {
      if (is_gradient_[at(input)]) level = std::max(level, nonzero_[at(input)]);
    }
    return level;
  }

  ValueId gathered(const Operation& operation) const {
    const auto gather = gather_of(operation.kind);
    return gather ? operation.inputs[gather->input] : kNone;
  }

  void mark_nonzero(const Operation& operation) {
    if (operation.output == kNone) return;
    std::int8_t level = nonzero_input(operation);
    const ValueId x = gathered(operation);
    if (x != kNone && is_gradient_[at(x)]) level = std::max(level, next_level(nonzero_[at(x)]));
    if (std::holds_alternative<op::Loss>(operation.kind)) level = 0;
    const bool spreads = !reductions_read(operation.kind).empty();  // over all rows
    is_gradient_[at(operation.output)] = level != kNoRows;
    nonzero_[at(operation.output)] = level == kNoRows || spreads ? kAll : level;
  }

  /// Rows that the operation has to compute, given what later ones need of its output.
  std::int8_t computed(const Operation& operation) const {
    if (std::holds_alternative<op::Loss>(operation.kind)) return 0;
    std::int8_t level = kNoRows;
    if (operation.output != kNone)
      level = std::min(needed_[at(operation.output)], nonzero_[at(operation.output)]);
    const bool sums = !gradients_of(operation.kind).empty() || !reductions_written(operation.kind).empty();
    if (!sums && operation.output != kNone) return level;
    // It adds to a sum over rows, or writes rows of the caller: those where a gradient is not zero count.
    const std::int8_t terms = sums ? nonzero_input(operation) : kAll;
    return std::max(level, terms == kNoRows ? kAll : terms);
  }

  OperationRows demand(const Operation& operation) {
    OperationRows rows;
    rows.compute = computed(operation);
    rows.fill = operation.output == kNone ? kNoRows : needed_[at(operation.output)];
    const ValueId x = gathered(operation);
    for (const ValueId input : operation.inputs) {
      std::int8_t needed = rows.compute;
      if (input == x && rows.compute != kNoRows) {
        const bool zero_beyond = is_gradient_[at(x)] && nonzero_[at(x)] < kAll;
        if (zero_beyond) rows.edges = nonzero_[at(x)];
        const std::int8_t own = reads_own_row(operation.kind) ? rows.compute : kNoRows;
        needed = zero_beyond ? std::max(own, nonzero_[at(x)]) : next_level(rows.compute);
      }
      needed_[at(input)] = std::max(needed_[at(input)], needed);
    }
    return rows;
  }

  const Program& program_;
  std::vector<bool> is_gradient_;
  std::vector<std::int8_t> nonzero_;
  std::vector<std::int8_t> needed_;
};

}  // namespace

void find_row_levels(Schedule& schedule) {
  RowLevels(schedule.program).find(schedule);
}

}  // namespace halo::nn
