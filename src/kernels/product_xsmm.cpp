// LIBXSMM is column-major: a row-major matrix is its transpose there. So y = x w is y' = w' x' without any
// flag, y = x^T w is y' = w' x'^T, the transposed right factor it has; y = x w^T would need a transposed left
// factor, which it has not: the small matrix w is transposed into scratch first.
#include <libxsmm.h>

#include <algorithm>
#include <limits>

#include "halo/base/buffer.hpp"
#include "halo/base/cpu.hpp"
#include "product_backends.hpp"

namespace halo::kernels::internal {
namespace {

// The target is fixed by our own choice of instruction set, so that CPUs which add more (bfloat16, ...) give
// the same bits.
int set_up_target() {
  int target = LIBXSMM_TARGET_ARCH_GENERIC;
  if (vector_isa() == VectorIsa::kAvx512) target = LIBXSMM_X86_AVX512_CORE;
  if (vector_isa() == VectorIsa::kAvx2) target = LIBXSMM_X86_AVX2;
  libxsmm_init();
  if (target != LIBXSMM_TARGET_ARCH_GENERIC) libxsmm_set_target_archid(target);
  return target;
}

bool have_target() {
  static const int target = set_up_target();
  return target != LIBXSMM_TARGET_ARCH_GENERIC;
}

// One call y'[cols x rows] (+)= w'[cols x depth] x'[depth x rows], in LIBXSMM's column-major terms.
struct Shape {
  std::int64_t cols, rows, depth;
  std::int64_t w_stride, x_stride, y_stride;
  bool x_transposed;
  bool accumulate;
};

template <typename Real>
auto find_kernel(const Shape& s) {
  const auto m = static_cast<int>(s.cols);
  const auto n = static_cast<int>(s.rows);
  const auto k = static_cast<int>(s.depth);
  const auto lda = static_cast<int>(s.w_stride);
  const auto ldb = static_cast<int>(s.x_stride);
  const auto ldc = static_cast<int>(s.y_stride);
  const int flags = s.x_transposed ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
  const int prefetch = LIBXSMM_PREFETCH_NONE;
  const Real alpha = 1;
  const Real beta = s.accumulate ? Real{1} : Real{0};
  if constexpr (std::is_same_v<Real, float>) {
    return libxsmm_smmdispatch(m, n, k, &lda, &ldb, &ldc, &alpha, &beta, &flags, &prefetch);
  } else {
    return libxsmm_dmmdispatch(m, n, k, &lda, &ldb, &ldc, &alpha, &beta, &flags, &prefetch);
  }
}

template <typename Real>
bool fits_int(MatrixView<Real> a) {
  constexpr std::int64_t kLimit = std::numeric_limits<int>::max();
  return a.rows <= kLimit && a.cols <= kLimit && a.stride <= kLimit;
}

template <typename Real>
bool multiply_plain(MatrixView<const Real> x, MatrixView<const Real> w, MatrixView<Real> y, bool accumulate) {
  Shape shape{y.cols, std::min(y.rows, kChunkRows), x.cols, w.stride, x.stride, y.stride, false, accumulate};
  const auto chunk_kernel = find_kernel<Real>(shape);
  const std::int64_t rest = y.rows % kChunkRows;
  if (rest != 0) shape.rows = rest;
  const auto last_kernel = find_kernel<Real>(shape);
  if (chunk_kernel == nullptr || last_kernel == nullptr) return false;
  for (std::int64_t r = 0; r < y.rows; r += kChunkRows) {
    (y.rows - r < kChunkRows ? last_kernel : chunk_kernel)(w.data, x.row(r), y.row(r));
  }
  return true;
}

template <typename Real>
bool multiply_right_transposed(MatrixView<const Real> x, MatrixView<const Real> w, MatrixView<Real> y,
                               bool accumulate) {
  thread_local Buffer<Real> scratch;
  if (scratch.size() < w.rows * w.cols) scratch = Buffer<Real>(w.rows * w.cols);
  libxsmm_otrans(scratch.data(), w.data, sizeof(Real), static_cast<int>(w.cols), static_cast<int>(w.rows),
                 static_cast<int>(w.stride), static_cast<int>(w.rows));
  return multiply_plain(x, MatrixView<const Real>(scratch.data(), w.cols, w.rows), y, accumulate);
}

template <typename Real>
bool multiply_left_transposed(MatrixView<const Real> x, MatrixView<const Real> w, MatrixView<Real> y,
                              bool accumulate) {
  const std::int64_t rest = x.rows % kChunkRows;
  const std::int64_t first_depth = std::min(x.rows, kChunkRows);
  Shape shape{y.cols, y.rows, first_depth, w.stride, x.stride, y.stride, true, accumulate};
  const auto first_kernel = find_kernel<Real>(shape);
  shape.accumulate = true;
  const auto chunk_kernel = find_kernel<Real>(shape);
  if (rest != 0) shape.depth = rest;
  const auto last_kernel = find_kernel<Real>(shape);
  if (first_kernel == nullptr || chunk_kernel == nullptr || last_kernel == nullptr) return false;
  first_kernel(w.data, x.data, y.data);
  for (std::int64_t r = kChunkRows; r < x.rows; r += kChunkRows) {
    (x.rows - r < kChunkRows ? last_kernel : chunk_kernel)(w.row(r), x.row(r), y.data);
  }
  return true;
}

}  // namespace

template <typename Real>
bool xsmm_product(Transposed transposed, MatrixView<const Real> x, MatrixView<const Real> w,
                  MatrixView<Real> y, bool accumulate) {
  if (!have_target() || !fits_int(x) || !fits_int(w) || !fits_int(y)) return false;
  switch (transposed) {
    case Transposed::kNone:
      return multiply_plain(x, w, y, accumulate);
    case Transposed::kRight:
      return multiply_right_transposed(x, w, y, accumulate);
    case Transposed::kLeft:
      return multiply_left_transposed(x, w, y, accumulate);
  }
  return false;
}

const char* xsmm_target() {
  const Shape probe{16, 16, 16, 16, 16, 16, false, false};
  return have_target() && find_kernel<float>(probe) != nullptr ? to_string(vector_isa()) : nullptr;
}

template bool xsmm_product<float>(Transposed, MatrixView<const float>, MatrixView<const float>,
                                  MatrixView<float>, bool);
template bool xsmm_product<double>(Transposed, MatrixView<const double>, MatrixView<const double>,
                                   MatrixView<double>, bool);

}  // namespace halo::kernels::internal
