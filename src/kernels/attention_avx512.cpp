#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

#include "attention_loops.hpp"
#include "row_loops.hpp"

// Eight lanes: loops over fewer heads than a vector has lanes run one by one.
#define HALO_TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=256")))
#define HALO_INLINE HALO_TARGET inline __attribute__((always_inline))

namespace halo::kernels::internal {
namespace {
#include "attention_edges.inl"
#include "attention_passes.inl"
#include "attention_rows.inl"
}  // namespace

template <>
const AttentionLoops<float>& attention_loops_avx512<float>() {
  return kAttentionLoops<float>;
}
template <>
const AttentionLoops<double>& attention_loops_avx512<double>() {
  return kAttentionLoops<double>;
}

}  // namespace halo::kernels::internal
