#pragma once

#include <cstdint>
#include <span>

#include "halo/base/counter_rng.hpp"
#include "halo/base/ids.hpp"
#include "halo/base/matrix_view.hpp"

namespace halo::kernels {

// Attention over neighbours in pull form, H heads of C channels: every pass computes the coefficients anew
// from rows of nodes, so that nothing is kept per edge. An edge j -> i has a target row i and a source row j;
// a pass walks N(i) and sums for the target, or M(j) and sums for the source. Terms are added in the order of
// the row, the added loop last: a result depends on nothing but the row. Edge weights play no part; an edge
// that occurs twice counts twice (and is dropped or kept twice).
//
//   a_ij,h = q_i,h exp(e_ij,h - M_i,h)                                     w_ij,h = m_ij,h / (1 - p)
//   M_i,h  = max_{j in N(i)} e_ij,h      q_i,h = 1 / sum_{j in N(i)} exp(e_ij,h - M_i,h)
//   y_i,h  = sum_{j in N(i)} w_ij,h a_ij,h v_j,h      (nothing to sum: y_i = 0, M_i = q_i = 0)
//   g_ij,h = dL/de_ij,h = a_ij,h (w_ij,h <dy_i,h, v_j,h> - D_i,h)          D_i,h = <dy_i,h, y_i,h>
//
// The normaliser of a row is [M (H) | q (H)]: M - log q as one number would round off what exp magnifies. q
// belongs to the target, so passes sum with exp(e - M): a target's own sum is multiplied by q at its end, and
// its pack, all that sources read of it, holds q dy and q D.
//
// Of leaky_relu's two branches only the one with the slope matters to a target: sum_j g_ij,h = 0, so
//   ds_i,h = sum_j g_ij,h leaky'(s_i,h + t_j,h) = (slope - 1) sum of g_ij,h over the j with s_i,h + t_j,h <= 0
//          = (slope - 1) (<q_i dy_i,h, n_i,h> - q_i D_i,h m_i,h)
//   n_i,h  = sum over these j of w_ij,h exp(e_ij,h - M_i,h) v_j,h          m_i,h likewise of exp(e_ij,h - M_i,h)
// and the forward sum gathers n and m along the way: backward looks at a target's edges no more.

/// Most heads that the kernels serve.
inline constexpr std::int64_t kMaxHeads = 256;

/// Edges a pass runs over and what all its edges share.
template <typename Real>
struct Attention {
  const EdgeId* indptr = nullptr;  ///< indptr[r], indptr[r + 1] for r in rows
  const LocalId* columns = nullptr;
  const float* loop =
      nullptr;  ///< per owned row, not 0: the row has one more neighbour, itself; nullptr: none
  RowRange rows;
  std::int64_t heads = 1;      ///< 1 .. kMaxHeads
  Real slope = Real(0.2);      ///< of leaky_relu below zero
  double dropout = 0.0;        ///< p: share of coefficients that are dropped
  CounterRng rng{0, 0, 0};     ///< m_ij,h = column_bits(word(row_key(id_i), id_j), h) >= p 2^32
  const NodeId* id = nullptr;  ///< original ids, owned then halo nodes of this direction; not read if p = 0
};

// GAT (Velickovic et al. 2018): v = z, e_ij,h = leaky_relu(s_i,h + t_j,h).
//   zts: [z (H C) | t (H) | s (H)]          normaliser: [M | q | s], H each
//   pack: [q dy (H C) | M (H) | s (H) | q D (H)]

/// zts = [z | t | s], t_h = <att_src_h, z_h>, s_h = <att_dst_h, z_h>; att: [H C]. Rows one by one.
template <typename Real>
void attention_scores(MatrixView<const Real> z, std::span<const Real> att_src, std::span<const Real> att_dst,
                      std::int64_t heads, MatrixView<Real> zts);
/// dz = dzts_z + dt_h att_src_h + ds_h att_dst_h; d_att_src_h += sum over rows of dt_h z_h, d_att_dst_h
/// likewise with ds, rows in order.
template <typename Real>
void attention_scores_gradient(MatrixView<const Real> zts, MatrixView<const Real> dzts,
                               std::span<const Real> att_src, std::span<const Real> att_dst,
                               std::int64_t heads, MatrixView<Real> dz, std::span<Real> d_att_src,
                               std::span<Real> d_att_dst);

/// Over N(i): normaliser [owned x 3H]; zts with its halo rows. Finite for every finite score.
template <typename Real>
void attention_normaliser(const Attention<Real>& in, MatrixView<const Real> zts, MatrixView<Real> normaliser);
/// Over N(i): y [owned x H C], or [y | n | m] with n, m as above: [owned x 2 H C + H].
template <typename Real>
void attention_sum(const Attention<Real>& in, MatrixView<const Real> zts, MatrixView<const Real> normaliser,
                   MatrixView<Real> y);
/// pack_i = [q_i dy_i | M_i | s_i | <q_i dy_i, y_i>]; y: its first H C columns. Rows one by one.
template <typename Real>
void attention_pack(MatrixView<const Real> dy, MatrixView<const Real> y, MatrixView<const Real> normaliser,
                    std::int64_t heads, MatrixView<Real> pack);
/// ds [rows x H] from [y | n | m]. Rows one by one.
template <typename Real>
void attention_target_gradient(MatrixView<const Real> pack, MatrixView<const Real> y, std::int64_t heads,
                               Real slope, MatrixView<Real> ds);
/// Over M(j): dzts_j = [sum_i w_ij a_ij dy_i | sum_i g_ij leaky'(s_i + t_j) | ds_j]. pack with the halo rows of
/// this direction.
template <typename Real>
void attention_source_gradient(const Attention<Real>& out, MatrixView<const Real> pack,
                               MatrixView<const Real> zts, MatrixView<const Real> ds, MatrixView<Real> dzts);

// GATv2 (Brody et al. 2022): v = l, e_ij,h = <att_h, leaky_relu(l_j,h + r_i,h)>; att: [H C].
//   l, r: [H C]                             pack: [q dy (H C) | r (H C) | M (H) | q D (H)]

/// Over N(i): normaliser [owned x 2H]; l with its halo rows.
template <typename Real>
void attention_v2_normaliser(const Attention<Real>& in, std::span<const Real> att, MatrixView<const Real> l,
                             MatrixView<const Real> r, MatrixView<Real> normaliser);
/// Over N(i): y [owned x H C].
template <typename Real>
void attention_v2_sum(const Attention<Real>& in, std::span<const Real> att, MatrixView<const Real> l,
                      MatrixView<const Real> r, MatrixView<const Real> normaliser, MatrixView<Real> y);
/// pack_i = [q_i dy_i | r_i | M_i | <q_i dy_i, y_i>]. Rows one by one.
template <typename Real>
void attention_v2_pack(MatrixView<const Real> dy, MatrixView<const Real> y, MatrixView<const Real> r,
                       MatrixView<const Real> normaliser, std::int64_t heads, MatrixView<Real> pack);
/// Over M(j): dl_j = sum_i (w_ij a_ij dy_i + g_ij att leaky'(l_j + r_i)); pack with the halo rows of this
/// direction.
template <typename Real>
void attention_v2_source_gradient(const Attention<Real>& out, std::span<const Real> att,
                                  MatrixView<const Real> pack, MatrixView<const Real> l, MatrixView<Real> dl);
/// Over N(i): dr_i = sum_j g_ij att leaky'(l_j + r_i); d_att += sum over rows and edges of g_ij
/// leaky(l_j + r_i), in order. l with its halo rows.
template <typename Real>
void attention_v2_target_gradient(const Attention<Real>& in, std::span<const Real> att,
                                  MatrixView<const Real> l, MatrixView<const Real> pack, MatrixView<Real> dr,
                                  std::span<Real> d_att);

}  // namespace halo::kernels
