#pragma once

#include "halo/base/cpu.hpp"
#include "halo/kernels/attention.hpp"

namespace halo::kernels::internal {

/// The loops of halo/kernels/attention.hpp for one instruction set; vectors of parameters as plain pointers.
/// Sums over channels have a fixed shape (lane_sum) and lanes never meet otherwise, so all instruction sets
/// give the same bits.
template <typename Real>
struct AttentionLoops {
  using In = MatrixView<const Real>;
  using Out = MatrixView<Real>;
  using Pass = Attention<Real>;
  void (*scores)(In z, const Real* att_src, const Real* att_dst, std::int64_t heads, Out zts);
  void (*scores_gradient)(In zts, In dzts, const Real* att_src, const Real* att_dst, std::int64_t heads,
                          Out dz, Real* d_att_src, Real* d_att_dst);
  void (*normaliser)(const Pass& in, In zts, Out normaliser);
  void (*sum)(const Pass& in, In zts, In normaliser, Out y);
  void (*pack)(In dy, In y, In normaliser, std::int64_t heads, Out pack);
  void (*target_gradient)(In pack, In y, std::int64_t heads, Real slope, Out ds);
  void (*source_gradient)(const Pass& out, In pack, In zts, In ds, Out dzts);
  void (*v2_normaliser)(const Pass& in, const Real* att, In l, In r, Out normaliser);
  void (*v2_sum)(const Pass& in, const Real* att, In l, In r, In normaliser, Out y);
  void (*v2_pack)(In dy, In y, In r, In normaliser, std::int64_t heads, Out pack);
  void (*v2_source_gradient)(const Pass& out, const Real* att, In pack, In l, Out dl);
  void (*v2_target_gradient)(const Pass& in, const Real* att, In l, In pack, Out dr, Real* d_att);
};

// Those of x86 exist on x86 alone.
template <typename Real>
const AttentionLoops<Real>& attention_loops_portable();
template <typename Real>
const AttentionLoops<Real>& attention_loops_avx2();
template <typename Real>
const AttentionLoops<Real>& attention_loops_avx512();

/// Those of an instruction set that this CPU has.
template <typename Real>
const AttentionLoops<Real>& attention_loops(VectorIsa isa) {
#if defined(__x86_64__)
  if (isa == VectorIsa::kAvx512) return attention_loops_avx512<Real>();
  if (isa == VectorIsa::kAvx2) return attention_loops_avx2<Real>();
#endif
  return attention_loops_portable<Real>();
}

}  // namespace halo::kernels::internal
