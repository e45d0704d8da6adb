#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halo/nn/operation_types.hpp"

namespace halo::nn {

/// What the operations of one attention layer share.
struct AttentionOptions {
  std::int64_t heads = 1;
  double slope = 0.2;        ///< of leaky_relu below zero
  bool loops = true;         ///< every row is its own neighbour too, once
  double p = 0.0;            ///< share of the coefficients that training drops
  std::uint64_t stream = 0;  ///< number of that dropout in the model, part of every random key

  std::string details() const;
};

// Attention and the neighbour maximum: the operations that look at single edges. H heads of C channels; the
// formulas are in src/nn/ops/. How an operation describes itself to the passes: operations.hpp.
namespace op {

/// z [HC] -> [z | t | s] [HC + 2H]: rows with their scores as source and as target  (Velickovic et al. 2018)
struct AttentionScores {
  static constexpr const char* kName = "attention_scores";
  static constexpr bool kExact = true;
  ParameterId att_src = kNone;
  ParameterId att_dst = kNone;
  std::int64_t heads = 1;
  std::vector<ParameterId> parameters() const { return {att_src, att_dst}; }
};
/// zts, dzts -> dz; adds the gradients of att_src and att_dst
struct AttentionScoresGradient {
  static constexpr const char* kName = "attention_scores_gradient";
  static constexpr bool kExact = true;
  ParameterId att_src = kNone;
  ParameterId att_dst = kNone;
  std::int64_t heads = 1;
  std::vector<ParameterId> gradients() const { return {att_src, att_dst}; }
};
/// zts with its halo rows -> normaliser [M | q | s] [3H]: each row's largest score, q = 1 / sum of
/// exp(score - M), and its own score as target
struct AttentionNormaliser {
  static constexpr const char* kName = "attention_normaliser";
  static constexpr bool kExact = true;
  AttentionOptions options;
  std::optional<Gather> gathers() const { return Gather{.input = 0, .direction = Direction::kIn}; }
  std::string details() const { return options.details(); }
};
/// zts with its halo rows, normaliser -> y [HC]; for backward [y | n | m] [2HC + H], the sums over the edges
/// whose score the slope has multiplied (halo/kernels/attention.hpp)
struct AttentionSum {
  static constexpr const char* kName = "attention_sum";
  static constexpr bool kExact = true;
  AttentionOptions options;
  bool for_backward = false;
  std::optional<Gather> gathers() const { return Gather{.input = 0, .direction = Direction::kIn}; }
  bool needs_neighbour_ids() const { return options.p > 0.0; }
  std::string details() const { return options.details() + (for_backward ? ", for backward" : ""); }
};
/// dy, [y | n | m], normaliser -> [q dy | M | s | <q dy, y>] [HC + 3H]: what sources need of their targets
struct AttentionBackwardPack {
  static constexpr const char* kName = "attention_backward_pack";
  static constexpr bool kExact = true;
  std::int64_t heads = 1;
};
/// pack, [y | n | m] -> ds [H]
struct AttentionTargetGradient {
  static constexpr const char* kName = "attention_target_gradient";
  static constexpr bool kExact = true;
  std::int64_t heads = 1;
  double slope = 0.2;
};
/// pack with its halo rows, zts, ds -> [dz | dt | ds] [HC + 2H]
struct AttentionSourceGradient {
  static constexpr const char* kName = "attention_source_gradient";
  static constexpr bool kExact = true;
  AttentionOptions options;
  std::optional<Gather> gathers() const { return Gather{.input = 0, .direction = Direction::kOut}; }
  bool needs_neighbour_ids() const { return options.p > 0.0; }
  std::string details() const { return options.details(); }
};

/// l [HC] with its halo rows, r [HC] -> normaliser [2H]  (Brody et al. 2022)
struct AttentionV2Normaliser {
  static constexpr const char* kName = "attention_v2_normaliser";
  static constexpr bool kExact = true;
  ParameterId att = kNone;
  AttentionOptions options;
  std::optional<Gather> gathers() const { return Gather{.input = 0, .direction = Direction::kIn}; }
  std::vector<ParameterId> parameters() const { return {att}; }
  std::string details() const { return options.details(); }
};
/// l with its halo rows, r, normaliser -> y [HC]
struct AttentionV2Sum {
  static constexpr const char* kName = "attention_v2_sum";
  static constexpr bool kExact = true;
  ParameterId att = kNone;
  AttentionOptions options;
  std::optional<Gather> gathers() const { return Gather{.input = 0, .direction = Direction::kIn}; }
  bool needs_neighbour_ids() const { return options.p > 0.0; }
  std::vector<ParameterId> parameters() const { return {att}; }
  std::string details() const { return options.details(); }
};
/// dy, y, r, normaliser -> [q dy | r | M | <q dy, y>] [2HC + 2H]: what sources need of their targets
struct AttentionV2BackwardPack {
  static constexpr const char* kName = "attention_v2_backward_pack";
  static constexpr bool kExact = true;
  std::int64_t heads = 1;
};
/// pack with its halo rows, l -> dl [HC]
struct AttentionV2SourceGradient {
  static constexpr const char* kName = "attention_v2_source_gradient";
  static constexpr bool kExact = true;
  ParameterId att = kNone;
  AttentionOptions options;
  std::optional<Gather> gathers() const { return Gather{.input = 0, .direction = Direction::kOut}; }
  bool needs_neighbour_ids() const { return options.p > 0.0; }
  std::string details() const { return options.details(); }
};
/// l with its halo rows, pack -> dr [HC]; adds the gradient of att
struct AttentionV2TargetGradient {
  static constexpr const char* kName = "attention_v2_target_gradient";
  static constexpr bool kExact = true;
  ParameterId att = kNone;
  AttentionOptions options;
  std::optional<Gather> gathers() const { return Gather{.input = 0, .direction = Direction::kIn}; }
  bool needs_neighbour_ids() const { return options.p > 0.0; }
  std::vector<ParameterId> gradients() const { return {att}; }
  std::string details() const { return options.details(); }
};

/// x with its halo rows -> the largest neighbour per column, 0 without neighbours  (Hamilton et al. 2017)
struct NeighbourMax {
  static constexpr const char* kName = "neighbour_max";
  static constexpr bool kExact = true;
  static constexpr bool kFoldable = true;
  std::optional<Gather> gathers() const { return Gather{.input = 0, .direction = Direction::kIn}; }
};
/// x with its halo rows, y, dy -> [y | dy / number of neighbours that reach y]
struct NeighbourMaxShare {
  static constexpr const char* kName = "neighbour_max_share";
  static constexpr bool kExact = true;
  std::optional<Gather> gathers() const { return Gather{.input = 0, .direction = Direction::kIn}; }
};
/// shares with their halo rows, x -> dx
struct NeighbourMaxGradient {
  static constexpr const char* kName = "neighbour_max_gradient";
  static constexpr bool kExact = true;
  std::optional<Gather> gathers() const { return Gather{.input = 0, .direction = Direction::kOut}; }
};

}  // namespace op

class Program;

// Shorthands of the model builders.

/// GAT: z [HC] -> y [HC]; att_src and att_dst have H C elements. InputError unless heads divides the columns
/// of z and is one of 1 .. kernels::kMaxHeads.
ValueId append_attention(Program& program, ValueId z, ParameterId att_src, ParameterId att_dst,
                         const AttentionOptions& options);
/// GATv2: l, r [HC] (sources, targets; may be the same) -> y [HC]; att has H C elements. InputError as above.
ValueId append_attention_v2(Program& program, ValueId l, ValueId r, ParameterId att,
                            const AttentionOptions& options);
/// x -> the largest neighbour per column
ValueId append_neighbour_max(Program& program, ValueId x);

}  // namespace halo::nn
