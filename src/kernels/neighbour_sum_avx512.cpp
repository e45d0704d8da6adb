#include <immintrin.h>

#include <algorithm>
#include <array>
#include <utility>

#include "neighbour_sum_isa.hpp"

#define HALO_TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl")))
#define HALO_VECTOR_OP HALO_TARGET static inline __attribute__((always_inline))

namespace halo::kernels::internal {
namespace {

// 16 of the 32 registers accumulate: 256 floats, more would add nothing to the length of the reads.
struct FloatVector {
  using Real = float;
  using Stored = float;
  using Register = __m512;
  using Mask = __mmask16;
  static constexpr int kLanes = 16;
  static constexpr int kMaxVectors = 16;
  HALO_VECTOR_OP Mask mask(int lanes) { return static_cast<Mask>((1U << lanes) - 1U); }
  HALO_VECTOR_OP Register broadcast(Real value) { return _mm512_set1_ps(value); }
  HALO_VECTOR_OP Register load(const Real* from) { return _mm512_loadu_ps(from); }
  HALO_VECTOR_OP Register load_part(const Real* from, Mask mask) { return _mm512_maskz_loadu_ps(mask, from); }
  HALO_VECTOR_OP Register add(Register a, Register b) { return _mm512_add_ps(a, b); }
  HALO_VECTOR_OP Register multiply(Register a, Register b) { return _mm512_mul_ps(a, b); }
  HALO_VECTOR_OP void store(Real* to, Register a) { _mm512_storeu_ps(to, a); }
  HALO_VECTOR_OP void store_part(Real* to, Register a, Mask mask) { _mm512_mask_storeu_ps(to, mask, a); }
};

struct DoubleVector {
  using Real = double;
  using Stored = double;
  using Register = __m512d;
  using Mask = __mmask8;
  static constexpr int kLanes = 8;
  static constexpr int kMaxVectors = 16;
  HALO_VECTOR_OP Mask mask(int lanes) { return static_cast<Mask>((1U << lanes) - 1U); }
  HALO_VECTOR_OP Register broadcast(Real value) { return _mm512_set1_pd(value); }
  HALO_VECTOR_OP Register load(const Real* from) { return _mm512_loadu_pd(from); }
  HALO_VECTOR_OP Register load_part(const Real* from, Mask mask) { return _mm512_maskz_loadu_pd(mask, from); }
  HALO_VECTOR_OP Register add(Register a, Register b) { return _mm512_add_pd(a, b); }
  HALO_VECTOR_OP Register multiply(Register a, Register b) { return _mm512_mul_pd(a, b); }
  HALO_VECTOR_OP void store(Real* to, Register a) { _mm512_storeu_pd(to, a); }
  HALO_VECTOR_OP void store_part(Real* to, Register a, Mask mask) { _mm512_mask_storeu_pd(to, mask, a); }
};

// bfloat16 are the upper halves of floats. Masks that keep all lanes spare GCC 12 a warning of values that are
// not set in its own headers; no instruction comes of them.
struct HalfFloatVector : FloatVector {
  using Stored = Half<float>::Stored;
  static constexpr Mask kAll = 0xFFFF;
  HALO_VECTOR_OP Register widen(__m256i halves) {
    return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(kAll, _mm512_maskz_cvtepu16_epi32(kAll, halves), 16));
  }
  HALO_VECTOR_OP Register load(const Stored* from) { return widen(_mm256_loadu_epi16(from)); }
  HALO_VECTOR_OP Register load_part(const Stored* from, Mask mask) {
    return widen(_mm256_maskz_loadu_epi16(mask, from));
  }
};

struct HalfDoubleVector : DoubleVector {
  using Stored = Half<double>::Stored;
  static constexpr Mask kAll = 0xFF;
  HALO_VECTOR_OP Register load(const Stored* from) {
    return _mm512_maskz_cvtps_pd(kAll, _mm256_loadu_ps(from));
  }
  HALO_VECTOR_OP Register load_part(const Stored* from, Mask mask) {
    return _mm512_maskz_cvtps_pd(kAll, _mm256_maskz_loadu_ps(mask, from));
  }
};

#include "neighbour_sum_body.inl"

}  // namespace

template <>
void neighbour_sum_avx512<float>(const NeighbourSum<float>& sum) {
  sum.half ? sum_rows<HalfFloatVector>(sum) : sum_rows<FloatVector>(sum);
}
template <>
void neighbour_sum_avx512<double>(const NeighbourSum<double>& sum) {
  sum.half ? sum_rows<HalfDoubleVector>(sum) : sum_rows<DoubleVector>(sum);
}

}  // namespace halo::kernels::internal
