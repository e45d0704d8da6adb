// Which values are stored at half width, and where are they packed and unpacked?
//
//   stage 1   v = linear(x)          stage 1   v = linear(x)           v lives for a tile
//             r = relu(v)                      r = relu(v)
//                                              p = pack_half(r)        p has a row for each node
//   stage 2   s = neighbour_sum(r)   stage 2   s = neighbour_sum(p)    gathers half as many bytes
//             y = linear(r) + s                u = unpack_half(p)      u lives for a tile
//                                              y = linear(u) + s
//
// Within its own stage a value is read as it was computed, before rounding.

#include "half_rows.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "../traits.hpp"
#include "halo/kernels/half_rows.hpp"
#include "halo/nn/passes.hpp"
#include "stages.hpp"
#include "uses.hpp"

namespace halo::nn {
namespace {

class HalfRows {
 public:
  HalfRows(const Program& program, bool symmetric)
      : program_(program),
        stages_(map_stages(program, symmetric)),
        producers_(find_producers(program)),
        packed_(program.values.size(), kNone) {}

  Program rewrite() {
    result_ = program_;
    result_.operations.clear();
    const std::vector<bool> halved = find_halved();
    for (std::size_t k = 0; k < program_.operations.size(); ++k) {
      Operation operation = program_.operations[k];
      for (ValueId& input : operation.inputs) {
        if (halved[at(input)]) read_packed(operation, input, stages_.of[k]);
      }
      const ValueId output = operation.output;
      result_.operations.push_back(std::move(operation));
      if (output == kNone || !halved[at(output)]) continue;
      packed_[at(output)] =
          result_.append(op::PackHalf{}, {output}, kernels::half_cols(program_.cols(output)));
    }
    return std::move(result_);
  }

 private:
  /// Stage of the operation that makes a value; kNone for constants.
  std::int32_t home(ValueId value) const { return stages_.of[at(producers_[at(value)])]; }

  std::vector<bool> find_halved() const {
    std::vector<bool> leaves(program_.values.size(), false);
    std::vector<bool> whole(program_.values.size(), false);
    whole[at(program_.logits)] = true;
    for (std::size_t k = 0; k < program_.operations.size(); ++k) {
      const Operation& operation = program_.operations[k];
      const bool sum = std::holds_alternative<op::NeighbourSum>(operation.kind);
      for (const ValueId input : operation.inputs) {
        const bool elsewhere = home(input) != stages_.of[k];
        if (sum || elsewhere) leaves[at(input)] = true;
        if (sum) continue;
        if (reads_exactly(operation.kind) || (elsewhere && stages_.begins[k])) whole[at(input)] = true;
      }
      if (operation.output == kNone) continue;
      if (stages_.of[k] == kNone || is_whole(operation.kind)) whole[at(operation.output)] = true;
    }
    for (std::size_t v = 0; v < leaves.size(); ++v) leaves[v] = leaves[v] && !whole[v];
    return leaves;
  }

  void read_packed(Operation& operation, ValueId& input, std::int32_t stage) {
    if (auto* sum = std::get_if<op::NeighbourSum>(&operation.kind)) {
      sum->half = true;
      input = packed_[at(input)];
      return;
    }
    if (home(input) == stage) return;
    const auto [found, is_new] = unpacked_.try_emplace({input, stage}, kNone);
    if (is_new) {
      found->second = result_.append(op::UnpackHalf{}, {packed_[at(input)]}, program_.cols(input));
      result_.operations.back().with_next = operation.with_next;
    }
    input = found->second;
  }

  const Program& program_;
  Program result_;
  StageMap stages_;
  std::vector<std::int32_t> producers_;
  std::vector<ValueId> packed_;                                   ///< per value
  std::map<std::pair<ValueId, std::int32_t>, ValueId> unpacked_;  ///< by value and stage
};

}  // namespace

Program store_half_rows(const Program& program, bool symmetric) {
  return HalfRows(program, symmetric).rewrite();
}

}  // namespace halo::nn
