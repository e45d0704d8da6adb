// Graph attention (Velickovic et al. 2018), H heads of C channels, nothing kept per edge:
// attention_scores:     zts = [z | t | s], t_h = <att_src_h, z_h>, s_h = <att_dst_h, z_h>
//   z: [t x HC]   att_src, att_dst: [HC]   zts: [t x HC + 2H]
//   dz = dzts_z + dt att_src + ds att_dst;   d att_src = sum over rows of dt_h z_h, d att_dst with ds
// attention_normaliser: M_i,h = max_{j in N(i)} e_ij,h,  e_ij,h = leaky_relu(s_i,h + t_j,h)
//                       q_i,h = 1 / sum_{j in N(i)} exp(e_ij,h - M_i,h)
//   zts: [owned + halo x HC + 2H], gathered   [M | q | s]: [owned x 3H]; its gradient is part of that of the sum
// attention_sum:        y_i = sum_{j in N(i)} w_ij a_ij z_j
//                       a_ij = q_i exp(e_ij - M_i),  w_ij = m_ij / (1 - p)
//   y: [owned x HC]; where backward follows [y | n | m]
//   with D_i = <dy_i, y_i> and g_ij = a_ij (w_ij <dy_i, z_j> - D_i) leaky'(s_i + t_j):
//   dz_j = sum_{i in M(j)} w_ij a_ij dy_i,  dt_j = sum_{i in M(j)} g_ij
//   both over out-edges, gather [q dy | M | s | q D]
//   ds_i = sum_{j in N(i)} g_ij, from n and m without another look at the edges (halo/kernels/attention.hpp)

#include "halo/kernels/attention.hpp"

#include <fmt/format.h>

#include "../derivation.hpp"
#include "../tile_context.hpp"
#include "attention_pass.hpp"
#include "halo/base/error.hpp"

namespace halo::nn {

std::string AttentionOptions::details() const {
  return fmt::format("{} heads, slope {}, {}, dropout {}", heads, slope, loops ? "loop" : "no loop", p);
}

void check_heads(const AttentionOptions& options, std::int64_t cols) {
  if (options.heads >= 1 && options.heads <= kernels::kMaxHeads && cols % options.heads == 0) return;
  throw InputError({.what = "cannot build an attention layer",
                    .where = "number of heads",
                    .found = fmt::format("{} heads for {} columns", options.heads, cols),
                    .expected = fmt::format("1 to {} heads that divide the columns", kernels::kMaxHeads),
                    .next = "choose another number of heads or of columns"});
}

ValueId append_attention(Program& program, ValueId z, ParameterId att_src, ParameterId att_dst,
                         const AttentionOptions& options) {
  const std::int64_t cols = program.cols(z);
  check_heads(options, cols);
  const ValueId zts =
      program.append(op::AttentionScores{.att_src = att_src, .att_dst = att_dst, .heads = options.heads}, {z},
                     cols + 2 * options.heads);
  const ValueId normaliser =
      program.append(op::AttentionNormaliser{.options = options}, {zts}, 3 * options.heads);
  return program.append(op::AttentionSum{.options = options}, {zts, normaliser}, cols);
}

template <typename Real>
void run(const op::AttentionScores& scores, const TileContext<Real>& tile) {
  kernels::attention_scores(tile.input(0), all_elements(tile.parameter(scores.att_src)),
                            all_elements(tile.parameter(scores.att_dst)), scores.heads, tile.output());
}

template <typename Real>
void run(const op::AttentionScoresGradient& scores, const TileContext<Real>& tile) {
  kernels::attention_scores_gradient(
      tile.input(0), tile.input(1), all_elements(tile.parameter(scores.att_src)),
      all_elements(tile.parameter(scores.att_dst)), scores.heads, tile.output(),
      all_elements(tile.gradient(scores.att_src)), all_elements(tile.gradient(scores.att_dst)));
}

void derive(const op::AttentionScores& scores, const Operation& forward, ValueId dy, Derivation& derivation) {
  const ValueId z = forward.inputs[0];
  const op::AttentionScoresGradient gradient = {
      .att_src = scores.att_src, .att_dst = scores.att_dst, .heads = scores.heads};
  derivation.contribute(z, derivation.emit(gradient, {forward.output, dy}, derivation.program().cols(z)));
}

template <typename Real>
void run(const op::AttentionNormaliser& attention, const TileContext<Real>& tile) {
  kernels::attention_normaliser<Real>(attention_pass(attention.options, Direction::kIn, tile),
                                      tile.whole_input(0), tile.whole_output());
}

template <typename Real>
void run(const op::AttentionSum& attention, const TileContext<Real>& tile) {
  kernels::attention_sum<Real>(attention_pass(attention.options, Direction::kIn, tile), tile.whole_input(0),
                               tile.whole_input(1), tile.whole_output());
}

template <typename Real>
void run(const op::AttentionBackwardPack& pack, const TileContext<Real>& tile) {
  kernels::attention_pack<Real>(tile.input(0), tile.input(1), tile.input(2), pack.heads, tile.output());
}

template <typename Real>
void run(const op::AttentionSourceGradient& attention, const TileContext<Real>& tile) {
  kernels::attention_source_gradient<Real>(attention_pass(attention.options, Direction::kOut, tile),
                                           tile.whole_input(0), tile.whole_input(1), tile.whole_input(2),
                                           tile.whole_output());
}

template <typename Real>
void run(const op::AttentionTargetGradient& attention, const TileContext<Real>& tile) {
  kernels::attention_target_gradient<Real>(tile.input(0), tile.input(1), attention.heads,
                                           static_cast<Real>(attention.slope), tile.output());
}

void derive(const op::AttentionSum& sum, const Operation& forward, ValueId dy, Derivation& derivation) {
  const ValueId zts = forward.inputs[0];
  const ValueId normaliser = forward.inputs[1];
  const std::int64_t cols = derivation.program().cols(zts);
  const std::int64_t heads = sum.options.heads;
  const ValueId y = derivation.widen(forward, op::AttentionSum{.options = sum.options, .for_backward = true},
                                     2 * derivation.program().cols(dy) + heads);
  const ValueId pack =
      derivation.emit(op::AttentionBackwardPack{.heads = heads}, {dy, y, normaliser}, cols + heads);
  const ValueId ds = derivation.emit(op::AttentionTargetGradient{.heads = heads, .slope = sum.options.slope},
                                     {pack, y}, heads);
  derivation.contribute(
      zts, derivation.emit(op::AttentionSourceGradient{.options = sum.options}, {pack, zts, ds}, cols));
}

#define HALO_INSTANTIATE(Op)                                   \
  template void run(const op::Op&, const TileContext<float>&); \
  template void run(const op::Op&, const TileContext<double>&)
HALO_INSTANTIATE(AttentionScores);
HALO_INSTANTIATE(AttentionScoresGradient);
HALO_INSTANTIATE(AttentionNormaliser);
HALO_INSTANTIATE(AttentionSum);
HALO_INSTANTIATE(AttentionBackwardPack);
HALO_INSTANTIATE(AttentionTargetGradient);
HALO_INSTANTIATE(AttentionSourceGradient);
#undef HALO_INSTANTIATE

}  // namespace halo::nn
