// Graph attention with dynamic scores (Brody et al. 2022), H heads of C channels, nothing kept per edge:
// attention_v2_normaliser: M_i,h = max_{j in N(i)} e_ij,h,  e_ij,h = <att_h, leaky_relu(l_j,h + r_i,h)>
//                          q_i,h = 1 / sum_{j in N(i)} exp(e_ij,h - M_i,h)
//   l: [owned + halo x HC], gathered   r: [owned x HC]   att: [HC]
//   [M | q]: [owned x 2H]; its gradient is part of that of the sum
// attention_v2_sum:        y_i = sum_{j in N(i)} w_ij a_ij l_j
//                          a_ij = q_i exp(e_ij - M_i),  w_ij = m_ij / (1 - p)
//   y: [owned x HC]
//   with D_i = <dy_i, y_i> and g_ij = a_ij (w_ij <dy_i, l_j> - D_i):
//   dl_j = sum_{i in M(j)} (w_ij a_ij dy_i + g_ij att leaky'(l_j + r_i))
//   over out-edges, gather [q dy | r | M | q D]
//   dr_i = sum_{j in N(i)} g_ij att leaky'(l_j + r_i)
//   d att = sum over rows and edges of g_ij leaky(l_j + r_i)
//   both over in-edges once more, where the halo rows of l still are

#include "../derivation.hpp"
#include "../tile_context.hpp"
#include "attention_pass.hpp"
#include "halo/kernels/attention.hpp"

namespace halo::nn {

ValueId append_attention_v2(Program& program, ValueId l, ValueId r, ParameterId att,
                            const AttentionOptions& options) {
  const std::int64_t cols = program.cols(l);
  check_heads(options, cols);
  const ValueId normaliser =
      program.append(op::AttentionV2Normaliser{.att = att, .options = options}, {l, r}, 2 * options.heads);
  return program.append(op::AttentionV2Sum{.att = att, .options = options}, {l, r, normaliser}, cols);
}

template <typename Real>
void run(const op::AttentionV2Normaliser& attention, const TileContext<Real>& tile) {
  kernels::attention_v2_normaliser<Real>(attention_pass(attention.options, Direction::kIn, tile),
                                         all_elements(tile.parameter(attention.att)), tile.whole_input(0),
                                         tile.whole_input(1), tile.whole_output());
}

template <typename Real>
void run(const op::AttentionV2Sum& attention, const TileContext<Real>& tile) {
  kernels::attention_v2_sum<Real>(attention_pass(attention.options, Direction::kIn, tile),
                                  all_elements(tile.parameter(attention.att)), tile.whole_input(0),
                                  tile.whole_input(1), tile.whole_input(2), tile.whole_output());
}

template <typename Real>
void run(const op::AttentionV2BackwardPack& pack, const TileContext<Real>& tile) {
  kernels::attention_v2_pack<Real>(tile.input(0), tile.input(1), tile.input(2), tile.input(3), pack.heads,
                                   tile.output());
}

template <typename Real>
void run(const op::AttentionV2SourceGradient& attention, const TileContext<Real>& tile) {
  kernels::attention_v2_source_gradient<Real>(attention_pass(attention.options, Direction::kOut, tile),
                                              all_elements(tile.parameter(attention.att)),
                                              tile.whole_input(0), tile.whole_input(1), tile.whole_output());
}

template <typename Real>
void run(const op::AttentionV2TargetGradient& attention, const TileContext<Real>& tile) {
  kernels::attention_v2_target_gradient<Real>(attention_pass(attention.options, Direction::kIn, tile),
                                              all_elements(tile.parameter(attention.att)),
                                              tile.whole_input(0), tile.whole_input(1), tile.whole_output(),
                                              all_elements(tile.gradient(attention.att)));
}

void derive(const op::AttentionV2Sum& sum, const Operation& forward, ValueId dy, Derivation& derivation) {
  const ValueId l = forward.inputs[0];
  const ValueId r = forward.inputs[1];
  const ValueId normaliser = forward.inputs[2];
  const std::int64_t cols = derivation.program().cols(l);
  const ValueId pack = derivation.emit(op::AttentionV2BackwardPack{.heads = sum.options.heads},
                                       {dy, forward.output, r, normaliser}, 2 * cols + 2 * sum.options.heads);
  const op::AttentionV2SourceGradient as_source = {.att = sum.att, .options = sum.options};
  const op::AttentionV2TargetGradient as_target = {.att = sum.att, .options = sum.options};
  derivation.contribute(l, derivation.emit(as_source, {pack, l}, cols));
  derivation.contribute(r, derivation.emit(as_target, {l, pack}, cols));
}

#define HALO_INSTANTIATE(Op)                                   \
  template void run(const op::Op&, const TileContext<float>&); \
  template void run(const op::Op&, const TileContext<double>&)
HALO_INSTANTIATE(AttentionV2Normaliser);
HALO_INSTANTIATE(AttentionV2Sum);
HALO_INSTANTIATE(AttentionV2BackwardPack);
HALO_INSTANTIATE(AttentionV2SourceGradient);
HALO_INSTANTIATE(AttentionV2TargetGradient);
#undef HALO_INSTANTIATE

}  // namespace halo::nn
