// Which values are kept for a later stage, and which are made there once more?
//
//   stage 1   b = add_bias(a)        stage 1   b = add_bias(a)         b and d live for a tile
//             d = relu(b)                      d = relu(b)
//             g = scale_rows(d)                g = scale_rows(d)       g is gathered: it has a row for each node
//   stage 2   s = neighbour_sum(g)   stage 2   s = neighbour_sum(g)
//             y = linear(d) + s                d2 = g / factors        d2 lives for a tile
//                                              y = linear(d2) + s
//
// Beside a pass over edges that reads a row's own attention scores, a product of not too many columns
// (kMostInner) is little work too:
//
//   stage 1   z = linear(x)          stage 5   z2 = linear(x)          z lives until its last forward sum
//             s = scores(z)                    s2 = scores(z2)
//                                              dz = attention_source_gradient(gathered, s2)
//
// Row-local operations of little work per element (kCheap) cost a pass over a tile in the cache; a value that
// is kept costs a row of memory for each node, written once and read once. So an operation is done again
// wherever all it reads is there anyway: a constant, a value kept until that stage or beyond, or another that
// is made again. What was only scaled for a gather is had back from the scaled rows.

#include "recompute.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "../traits.hpp"
#include "halo/nn/passes.hpp"
#include "stages.hpp"
#include "uses.hpp"

namespace halo::nn {
namespace {

/// Most columns of a product's input with which it is made again: hidden widths, not raw features, whose
/// product can be most of an epoch.
constexpr std::int64_t kMostInner = 256;

class Recompute {
 public:
  Recompute(const Program& program, bool symmetric)
      : program_(program),
        stages_(map_stages(program, symmetric)),
        producers_(find_producers(program)),
        constant_(constant_values(program)),
        readers_(program.values.size()),
        kept_until_(program.values.size(), kNone) {
    for (std::size_t k = 0; k < program.operations.size(); ++k) {
      const auto position = static_cast<std::int32_t>(k);
      for (const ValueId input : program.operations[k].inputs) {
        readers_[at(input)].push_back(position);
        kept_until_[at(input)] = std::max(kept_until_[at(input)], stages_.of[k]);
      }
    }
    kept_until_[at(program.logits)] = static_cast<std::int32_t>(program.operations.size());
  }

  Program rewrite() {
    for (std::size_t v = 0; v < program_.values.size(); ++v) find_unscaled(static_cast<ValueId>(v));
    for (const Operation& operation : program_.operations) {  // inputs before those who read them
      if (operation.output != kNone) find_recomputed(operation.output);
    }
    return with_copies();
  }

 private:
  using Use = std::pair<ValueId, std::int32_t>;  ///< a value in a stage

  std::int32_t home(ValueId value) const { return stages_.of[at(producers_[at(value)])]; }
  const Operation& producer(ValueId value) const { return program_.operations[at(producers_[at(value)])]; }

  /// Later stages that read the value, last first.
  std::vector<std::int32_t> later_stages(ValueId value) const {
    std::set<std::int32_t, std::greater<>> later;
    for (const std::int32_t position : readers_[at(value)]) later.insert(stages_.of[at(position)]);
    std::vector<std::int32_t> stages(later.begin(), later.end());
    std::erase_if(stages, [&](std::int32_t stage) { return stage <= home(value); });
    return stages;
  }

  /// True if all who read the value in the stage may as well read a copy that is made in it, with the same
  /// bits or, where `rounded`, after a rounding of its own.
  bool may_read_copy(ValueId value, std::int32_t stage, bool rounded) const {
    return std::ranges::all_of(readers_[at(value)], [&](std::int32_t position) {
      const Operation& reader = program_.operations[at(position)];
      const auto gather = gather_of(reader.kind);
      return stages_.of[at(position)] != stage ||
             (!(gather && reader.inputs[gather->input] == value) &&
              !(rounded && reads_exactly(reader.kind)) && !is_whole(reader.kind));
    });
  }

  bool is_candidate(ValueId value) const {
    return producers_[at(value)] != kNone && !constant_[at(value)] && value != program_.logits &&
           !later_stages(value).empty();
  }

  /// d, read later than it was made, as g = f d is gathered: d is g / f.
  void find_unscaled(ValueId d) {
    if (!is_candidate(d)) return;
    const auto later = later_stages(d);
    if (!std::ranges::all_of(later, [&](std::int32_t stage) { return may_read_copy(d, stage, true); }))
      return;
    for (const std::int32_t position : readers_[at(d)]) {
      const Operation& scaling = program_.operations[at(position)];
      const auto* scale = std::get_if<op::ScaleRows>(&scaling.kind);
      if (scale == nullptr || stages_.of[at(position)] != home(d) || !is_gathered(scaling.output)) continue;
      for (const std::int32_t stage : later) {
        copies_[{d, stage}] = {.kind = op::ScaleRows{.factor = scale->factor, .inverse = true},
                               .inputs = {scaling.output}};
      }
      kept_until_[at(scaling.output)] = std::max(kept_until_[at(scaling.output)], later.front());
      kept_until_[at(d)] = home(d);
      sources_.insert(scaling.output);
      return;
    }
  }

  bool is_gathered(ValueId value) const {
    return std::ranges::any_of(readers_[at(value)], [&](std::int32_t position) {
      const Operation& operation = program_.operations[at(position)];
      const auto gather = gather_of(operation.kind);
      return gather && operation.inputs[gather->input] == value;
    });
  }

  /// From the last stage back, as far as it is possible: a value that has to be kept longer is there anyway.
  void find_recomputed(ValueId value) {
    if (!is_candidate(value) || kept_until_[at(value)] == home(value) || sources_.contains(value)) return;
    for (const std::int32_t stage : later_stages(value)) {
      if (!may_read_copy(value, stage, may_round_copies()) || !can_be_made(value, stage)) return;
      copies_[{value, stage}] = producer(value);
      const auto later = later_stages(value);
      const auto before = std::ranges::find(later, stage) + 1;
      kept_until_[at(value)] = before == later.end() ? home(value) : *before;
    }
  }

  /// Rows had back from scaled ones or from half width differ in their last bits, and so may all made of them.
  bool may_round_copies() const { return !sources_.empty() || program_.half_rows; }

  bool can_be_made(ValueId value, std::int32_t stage) const {
    const Operation& operation = producer(value);
    return (is_cheap(operation.kind) || is_little_beside_edges(value, stage)) &&
           std::ranges::all_of(operation.inputs, [&](ValueId input) {
             return is_there(input, stage) || can_be_made(input, stage);
           });
  }

  /// Scores for a pass over edges in the stage that reads them of its own rows, or the product they are of.
  bool is_little_beside_edges(ValueId value, std::int32_t stage) const {
    const Operation& operation = producer(value);
    const bool product = std::holds_alternative<op::Linear>(operation.kind);
    if (product && program_.cols(operation.inputs[0]) > kMostInner) return false;
    if (!product && !std::holds_alternative<op::AttentionScores>(operation.kind)) return false;
    return std::ranges::any_of(readers_[at(value)], [&](std::int32_t position) {
      const Operation& reader = program_.operations[at(position)];
      if (product) {
        return std::holds_alternative<op::AttentionScores>(reader.kind) &&
               is_little_beside_edges(reader.output, stage);
      }
      return stages_.of[at(position)] == stage && gather_of(reader.kind).has_value();
    });
  }

  bool is_there(ValueId value, std::int32_t stage) const {
    return constant_[at(value)] || kept_until_[at(value)] >= stage || copies_.contains({value, stage});
  }

  Program with_copies() {
    result_ = program_;
    result_.operations.clear();
    for (std::size_t k = 0; k < program_.operations.size(); ++k) {
      Operation operation = program_.operations[k];
      for (ValueId& input : operation.inputs) {
        if (copies_.contains({input, stages_.of[k]}))
          input = emit_copy(input, stages_.of[k], stages_.begins[k]);
      }
      result_.operations.push_back(std::move(operation));
    }
    return std::move(result_);
  }

  /// The value as the stage reads it: its copy, made before its first reader, or itself where it is kept.
  ValueId emit_copy(ValueId value, std::int32_t stage, bool stage_begins) {
    const auto known = emitted_.find({value, stage});
    if (known != emitted_.end()) return known->second;
    const auto planned = copies_.find({value, stage});
    if (planned == copies_.end() && is_there(value, stage)) return value;
    Operation copy = planned != copies_.end() ? planned->second : producer(value);
    for (ValueId& input : copy.inputs) input = emit_copy(input, stage, stage_begins);
    const ValueId made = result_.append(std::move(copy.kind), std::move(copy.inputs), program_.cols(value));
    result_.operations.back().with_next = stage_begins;
    return emitted_[{value, stage}] = made;
  }

  const Program& program_;
  Program result_;
  StageMap stages_;
  std::vector<std::int32_t> producers_;
  std::vector<bool> constant_;
  std::vector<std::vector<std::int32_t>> readers_;  ///< per value, positions of operations
  std::vector<std::int32_t> kept_until_;            ///< per value, last stage that it is kept for
  std::map<Use, Operation> copies_;                 ///< what makes the value again in the stage
  std::map<Use, ValueId> emitted_;
  std::set<ValueId> sources_;  ///< scaled rows that others are had back from
};

}  // namespace

Program recompute_cheap_values(const Program& program, bool symmetric) {
  return Recompute(program, symmetric).rewrite();
}

}  // namespace halo::nn
