#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include "halo/nn/operations.hpp"

namespace halo::nn {

// What the passes read from the members of an operation (operations.hpp); each has a default for operations
// that say nothing.

inline std::optional<Gather> gather_of(const Kind& kind) {
  return std::visit(
      [](const auto& k) -> std::optional<Gather> {
        if constexpr (requires { k.gathers(); }) return k.gathers();
        return std::nullopt;
      },
      kind);
}

inline bool is_foldable(const Kind& kind) {
  return std::visit(
      [](const auto& k) {
        return requires {
          std::decay_t<decltype(k)>::kFoldable;
        };
      },
      kind);
}

namespace detail {
inline std::vector<std::int32_t> without_none(std::vector<std::int32_t> ids) {
  std::erase(ids, kNone);
  return ids;
}
}  // namespace detail

/// Learnt matrices the operation reads.
inline std::vector<ParameterId> parameters_of(const Kind& kind) {
  return std::visit(
      [](const auto& k) -> std::vector<ParameterId> {
        if constexpr (requires { k.parameters(); }) return detail::without_none(k.parameters());
        return {};
      },
      kind);
}

/// True if the result depends on something learnt even where no input does.
inline bool is_learnt(const Kind& kind) {
  const bool rows = std::visit(
      [](const auto& k) {
        return requires {
          std::decay_t<decltype(k)>::kLearnt;
        };
      },
      kind);
  return rows || !parameters_of(kind).empty();
}

/// Parameters whose gradient the operation adds to.
inline std::vector<ParameterId> gradients_of(const Kind& kind) {
  return std::visit(
      [](const auto& k) -> std::vector<ParameterId> {
        if constexpr (requires { k.gradients(); }) return detail::without_none(k.gradients());
        return {};
      },
      kind);
}

inline std::vector<ReductionId> reductions_read(const Kind& kind) {
  return std::visit(
      [](const auto& k) -> std::vector<ReductionId> {
        if constexpr (requires { k.reads(); }) return detail::without_none(k.reads());
        return {};
      },
      kind);
}

inline std::vector<ReductionId> reductions_written(const Kind& kind) {
  return std::visit(
      [](const auto& k) -> std::vector<ReductionId> {
        if constexpr (requires { k.writes(); }) return detail::without_none(k.writes());
        return {};
      },
      kind);
}

/// How many of the first inputs are still read after the output has been written to.
inline std::size_t protected_inputs(const Operation& operation) {
  return std::visit(
      [&](const auto& k) -> std::size_t {
        using Op = std::decay_t<decltype(k)>;
        if constexpr (requires { Op::kProtected; }) return Op::kProtected;
        if constexpr (requires { Op::kInPlace; }) return 0;
        return operation.inputs.size();
      },
      operation.kind);
}

/// True for a sum over neighbours that may count the row itself as one.
inline bool reads_own_row(const Kind& kind) {
  return std::visit(
      [](const auto& k) {
        if constexpr (requires { k.add_loop; }) return k.add_loop;
        if constexpr (requires { k.options.loops; }) return k.options.loops;
        return false;
      },
      kind);
}

/// True if rounded inputs would change more than the rounding of the result.
inline bool reads_exactly(const Kind& kind) {
  return std::visit(
      [](const auto& k) {
        return requires {
          std::decay_t<decltype(k)>::kExact;
        };
      },
      kind);
}

/// True if doing the operation again costs no more than keeping its result.
inline bool is_cheap(const Kind& kind) {
  return std::visit(
      [](const auto& k) {
        return requires {
          std::decay_t<decltype(k)>::kCheap;
        };
      },
      kind);
}

/// True for an operation that reads the original ids of neighbours.
inline bool needs_neighbour_ids(const Kind& kind) {
  return std::visit(
      [](const auto& k) {
        if constexpr (requires { k.needs_neighbour_ids(); }) return k.needs_neighbour_ids();
        return false;
      },
      kind);
}

/// True for an operation that takes all rows at once, between two stages.
inline bool is_whole(const Kind& kind) {
  return std::holds_alternative<op::ExternalLoss>(kind);
}

}  // namespace halo::nn
