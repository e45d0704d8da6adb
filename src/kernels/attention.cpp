#include "halo/kernels/attention.hpp"

#include <cassert>

#include "attention_loops.hpp"

namespace halo::kernels {
namespace {

template <typename Real>
const internal::AttentionLoops<Real>& loops() {
  return internal::attention_loops<Real>(vector_isa());
}

template <typename Real>
[[maybe_unused]] bool valid(const Attention<Real>& pass, std::int64_t width) {
  return pass.heads >= 1 && pass.heads <= kMaxHeads && width % pass.heads == 0 &&
         (pass.dropout == 0.0 || pass.id != nullptr);
}
[[maybe_unused]] bool has(std::size_t size, std::int64_t elements) {
  return static_cast<std::int64_t>(size) == elements;
}

}  // namespace

template <typename Real>
void attention_scores(MatrixView<const Real> z, std::span<const Real> att_src, std::span<const Real> att_dst,
                      std::int64_t heads, MatrixView<Real> zts) {
  assert(zts.cols == z.cols + 2 * heads && has(att_src.size(), z.cols) && has(att_dst.size(), z.cols));
  loops<Real>().scores(z, att_src.data(), att_dst.data(), heads, zts);
}

template <typename Real>
void attention_scores_gradient(MatrixView<const Real> zts, MatrixView<const Real> dzts,
                               std::span<const Real> att_src, std::span<const Real> att_dst,
                               std::int64_t heads, MatrixView<Real> dz, std::span<Real> d_att_src,
                               std::span<Real> d_att_dst) {
  assert(zts.cols == dz.cols + 2 * heads && dzts.cols == zts.cols);
  assert(has(d_att_src.size(), dz.cols) && has(d_att_dst.size(), dz.cols));
  loops<Real>().scores_gradient(zts, dzts, att_src.data(), att_dst.data(), heads, dz, d_att_src.data(),
                                d_att_dst.data());
}

template <typename Real>
void attention_normaliser(const Attention<Real>& in, MatrixView<const Real> zts,
                          MatrixView<Real> normaliser) {
  assert(valid(in, zts.cols - 2 * in.heads) && normaliser.cols == 3 * in.heads);
  loops<Real>().normaliser(in, zts, normaliser);
}

template <typename Real>
void attention_sum(const Attention<Real>& in, MatrixView<const Real> zts, MatrixView<const Real> normaliser,
                   MatrixView<Real> y) {
  [[maybe_unused]] const std::int64_t width = zts.cols - 2 * in.heads;
  assert(valid(in, width) && (y.cols == width || y.cols == 2 * width + in.heads));
  assert(normaliser.cols == 3 * in.heads);
  loops<Real>().sum(in, zts, normaliser, y);
}

template <typename Real>
void attention_pack(MatrixView<const Real> dy, MatrixView<const Real> y, MatrixView<const Real> normaliser,
                    std::int64_t heads, MatrixView<Real> pack) {
  assert(pack.cols == dy.cols + 3 * heads && y.cols >= dy.cols && normaliser.cols == 3 * heads);
  loops<Real>().pack(dy, y, normaliser, heads, pack);
}

template <typename Real>
void attention_target_gradient(MatrixView<const Real> pack, MatrixView<const Real> y, std::int64_t heads,
                               Real slope, MatrixView<Real> ds) {
  assert(y.cols == 2 * (pack.cols - 3 * heads) + heads && ds.cols == heads);
  loops<Real>().target_gradient(pack, y, heads, slope, ds);
}

template <typename Real>
void attention_source_gradient(const Attention<Real>& out, MatrixView<const Real> pack,
                               MatrixView<const Real> zts, MatrixView<const Real> ds, MatrixView<Real> dzts) {
  assert(valid(out, zts.cols - 2 * out.heads) && pack.cols == zts.cols + out.heads && dzts.cols == zts.cols);
  assert(ds.cols == out.heads);
  loops<Real>().source_gradient(out, pack, zts, ds, dzts);
}

template <typename Real>
void attention_v2_normaliser(const Attention<Real>& in, std::span<const Real> att, MatrixView<const Real> l,
                             MatrixView<const Real> r, MatrixView<Real> normaliser) {
  assert(valid(in, l.cols) && l.cols == r.cols && has(att.size(), l.cols) && normaliser.cols == 2 * in.heads);
  loops<Real>().v2_normaliser(in, att.data(), l, r, normaliser);
}

template <typename Real>
void attention_v2_sum(const Attention<Real>& in, std::span<const Real> att, MatrixView<const Real> l,
                      MatrixView<const Real> r, MatrixView<const Real> normaliser, MatrixView<Real> y) {
  assert(valid(in, l.cols) && l.cols == r.cols && has(att.size(), l.cols) && y.cols == l.cols);
  assert(normaliser.cols == 2 * in.heads);
  loops<Real>().v2_sum(in, att.data(), l, r, normaliser, y);
}

template <typename Real>
void attention_v2_pack(MatrixView<const Real> dy, MatrixView<const Real> y, MatrixView<const Real> r,
                       MatrixView<const Real> normaliser, std::int64_t heads, MatrixView<Real> pack) {
  assert(pack.cols == 2 * dy.cols + 2 * heads && y.cols == dy.cols && r.cols == dy.cols);
  assert(normaliser.cols == 2 * heads);
  loops<Real>().v2_pack(dy, y, r, normaliser, heads, pack);
}

template <typename Real>
void attention_v2_source_gradient(const Attention<Real>& out, std::span<const Real> att,
                                  MatrixView<const Real> pack, MatrixView<const Real> l,
                                  MatrixView<Real> dl) {
  assert(valid(out, l.cols) && pack.cols == 2 * l.cols + 2 * out.heads && dl.cols == l.cols);
  loops<Real>().v2_source_gradient(out, att.data(), pack, l, dl);
}

template <typename Real>
void attention_v2_target_gradient(const Attention<Real>& in, std::span<const Real> att,
                                  MatrixView<const Real> l, MatrixView<const Real> pack, MatrixView<Real> dr,
                                  std::span<Real> d_att) {
  assert(valid(in, l.cols) && pack.cols == 2 * l.cols + 2 * in.heads && has(d_att.size(), l.cols));
  loops<Real>().v2_target_gradient(in, att.data(), l, pack, dr, d_att.data());
}

#define HALO_INSTANTIATE(Real)                                                                               \
  template void attention_scores<Real>(MatrixView<const Real>, std::span<const Real>, std::span<const Real>, \
                                       std::int64_t, MatrixView<Real>);                                      \
  template void attention_scores_gradient<Real>(MatrixView<const Real>, MatrixView<const Real>,              \
                                                std::span<const Real>, std::span<const Real>, std::int64_t,  \
                                                MatrixView<Real>, std::span<Real>, std::span<Real>);         \
  template void attention_normaliser<Real>(const Attention<Real>&, MatrixView<const Real>,                   \
                                           MatrixView<Real>);                                                \
  template void attention_sum<Real>(const Attention<Real>&, MatrixView<const Real>, MatrixView<const Real>,  \
                                    MatrixView<Real>);                                                       \
  template void attention_pack<Real>(MatrixView<const Real>, MatrixView<const Real>, MatrixView<const Real>, \
                                     std::int64_t, MatrixView<Real>);                                        \
  template void attention_target_gradient<Real>(MatrixView<const Real>, MatrixView<const Real>,              \
                                                std::int64_t, Real, MatrixView<Real>);                       \
  template void attention_source_gradient<Real>(const Attention<Real>&, MatrixView<const Real>,              \
                                                MatrixView<const Real>, MatrixView<const Real>,              \
                                                MatrixView<Real>);                                           \
  template void attention_v2_normaliser<Real>(const Attention<Real>&, std::span<const Real>,                 \
                                              MatrixView<const Real>, MatrixView<const Real>,                \
                                              MatrixView<Real>);                                             \
  template void attention_v2_sum<Real>(const Attention<Real>&, std::span<const Real>,                        \
                                       MatrixView<const Real>, MatrixView<const Real>,                       \
                                       MatrixView<const Real>, MatrixView<Real>);                            \
  template void attention_v2_pack<Real>(MatrixView<const Real>, MatrixView<const Real>,                      \
                                        MatrixView<const Real>, MatrixView<const Real>, std::int64_t,        \
                                        MatrixView<Real>);                                                   \
  template void attention_v2_source_gradient<Real>(const Attention<Real>&, std::span<const Real>,            \
                                                   MatrixView<const Real>, MatrixView<const Real>,           \
                                                   MatrixView<Real>);                                        \
  template void attention_v2_target_gradient<Real>(const Attention<Real>&, std::span<const Real>,            \
                                                   MatrixView<const Real>, MatrixView<const Real>,           \
                                                   MatrixView<Real>, std::span<Real>)

HALO_INSTANTIATE(float);
HALO_INSTANTIATE(double);
#undef HALO_INSTANTIATE

}  // namespace halo::kernels
