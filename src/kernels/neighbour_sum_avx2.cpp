#include <immintrin.h>

#include <algorithm>
#include <array>
#include <utility>

#include "neighbour_sum_isa.hpp"

#define HALO_TARGET __attribute__((target("avx2")))
#define HALO_VECTOR_OP HALO_TARGET static inline __attribute__((always_inline))

namespace halo::kernels::internal {
namespace {

// 12 of the 16 registers accumulate.
struct FloatVector {
  using Real = float;
  using Stored = float;
  using Register = __m256;
  using Mask = __m256i;
  static constexpr int kLanes = 8;
  static constexpr int kMaxVectors = 12;
  HALO_VECTOR_OP Mask mask(int lanes) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(lanes), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  HALO_VECTOR_OP Register broadcast(Real value) { return _mm256_set1_ps(value); }
  HALO_VECTOR_OP Register load(const Real* from) { return _mm256_loadu_ps(from); }
  HALO_VECTOR_OP Register load_part(const Real* from, Mask mask) { return _mm256_maskload_ps(from, mask); }
  HALO_VECTOR_OP Register add(Register a, Register b) { return _mm256_add_ps(a, b); }
  HALO_VECTOR_OP Register multiply(Register a, Register b) { return _mm256_mul_ps(a, b); }
  HALO_VECTOR_OP void store(Real* to, Register a) { _mm256_storeu_ps(to, a); }
  HALO_VECTOR_OP void store_part(Real* to, Register a, Mask mask) { _mm256_maskstore_ps(to, mask, a); }
};

struct DoubleVector {
  using Real = double;
  using Stored = double;
  using Register = __m256d;
  using Mask = __m256i;
  static constexpr int kLanes = 4;
  static constexpr int kMaxVectors = 12;
  HALO_VECTOR_OP Mask mask(int lanes) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(lanes), _mm256_setr_epi64x(0, 1, 2, 3));
  }
  HALO_VECTOR_OP Register broadcast(Real value) { return _mm256_set1_pd(value); }
  HALO_VECTOR_OP Register load(const Real* from) { return _mm256_loadu_pd(from); }
  HALO_VECTOR_OP Register load_part(const Real* from, Mask mask) { return _mm256_maskload_pd(from, mask); }
  HALO_VECTOR_OP Register add(Register a, Register b) { return _mm256_add_pd(a, b); }
  HALO_VECTOR_OP Register multiply(Register a, Register b) { return _mm256_mul_pd(a, b); }
  HALO_VECTOR_OP void store(Real* to, Register a) { _mm256_storeu_pd(to, a); }
  HALO_VECTOR_OP void store_part(Real* to, Register a, Mask mask) { _mm256_maskstore_pd(to, mask, a); }
};

// bfloat16 are the upper halves of floats. There are no masked loads of 16 bits: a row has room for pairs.
struct HalfFloatVector : FloatVector {
  using Stored = Half<float>::Stored;
  HALO_VECTOR_OP Register widen(__m128i halves) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
  }
  HALO_VECTOR_OP Register load(const Stored* from) {
    return widen(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  HALO_VECTOR_OP Register load_part(const Stored* from, Mask mask) {
    const __m256i evens = _mm256_permutevar8x32_epi32(mask, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
    return widen(_mm_maskload_epi32(reinterpret_cast<const int*>(from), _mm256_castsi256_si128(evens)));
  }
};

struct HalfDoubleVector : DoubleVector {
  using Stored = Half<double>::Stored;
  HALO_VECTOR_OP Register load(const Stored* from) { return _mm256_cvtps_pd(_mm_loadu_ps(from)); }
  HALO_VECTOR_OP Register load_part(const Stored* from, Mask mask) {
    const __m256i evens = _mm256_permutevar8x32_epi32(mask, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
    return _mm256_cvtps_pd(_mm_maskload_ps(from, _mm256_castsi256_si128(evens)));
  }
};

#include "neighbour_sum_body.inl"

}  // namespace

template <>
void neighbour_sum_avx2<float>(const NeighbourSum<float>& sum) {
  sum.half ? sum_rows<HalfFloatVector>(sum) : sum_rows<FloatVector>(sum);
}
template <>
void neighbour_sum_avx2<double>(const NeighbourSum<double>& sum) {
  sum.half ? sum_rows<HalfDoubleVector>(sum) : sum_rows<DoubleVector>(sum);
}

}  // namespace halo::kernels::internal
