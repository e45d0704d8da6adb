#include <Eigen/Core>
#include <mutex>
#include <type_traits>

#include "product_backends.hpp"

namespace halo::kernels::internal {
namespace {

template <typename T>
using Dense = Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename T>
auto as_eigen(MatrixView<T> view) {
  using Base = std::conditional_t<std::is_const_v<T>, const Dense<T>, Dense<T>>;
  return Eigen::Map<Base, Eigen::Unaligned, Eigen::OuterStride<>>(view.data, view.rows, view.cols,
                                                                  Eigen::OuterStride<>(view.stride));
}

// Below these sizes Eigen leaves its packed product for loops whose grouping of a sum may depend on the
// alignment of the data.
bool is_small(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  return rows == 1 || cols == 1 || depth == 1 || rows + cols + depth < 32;
}

// Blocking decides the order of a sum, so it must not depend on the machine.
void fix_cache_sizes() {
  static std::once_flag once;
  std::call_once(once, [] { Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 4 << 20); });
}

template <typename Left, typename Right, typename Real>
void multiply(const Left& left, const Right& right, MatrixView<Real> out, bool accumulate) {
  if (is_small(out.rows, out.cols, left.cols())) {
    for (std::int64_t r = 0; r < out.rows; ++r) {
      for (std::int64_t c = 0; c < out.cols; ++c) {
        Real sum = 0;
        for (std::int64_t k = 0; k < left.cols(); ++k) sum += left(r, k) * right(k, c);
        out(r, c) = accumulate ? out(r, c) + sum : sum;
      }
    }
    return;
  }
  fix_cache_sizes();
  auto mapped = as_eigen(out);
  if (!accumulate) mapped.setZero();
  mapped.noalias() += left * right;
}

}  // namespace

template <typename Real>
void eigen_product(Transposed transposed, MatrixView<const Real> x, MatrixView<const Real> w,
                   MatrixView<Real> y, bool accumulate) {
  switch (transposed) {
    case Transposed::kNone:
      return multiply(as_eigen(x), as_eigen(w), y, accumulate);
    case Transposed::kRight:
      return multiply(as_eigen(x), as_eigen(w).transpose(), y, accumulate);
    case Transposed::kLeft:
      return multiply(as_eigen(x).transpose(), as_eigen(w), y, accumulate);
  }
}

template void eigen_product<float>(Transposed, MatrixView<const float>, MatrixView<const float>,
                                   MatrixView<float>, bool);
template void eigen_product<double>(Transposed, MatrixView<const double>, MatrixView<const double>,
                                    MatrixView<double>, bool);

}  // namespace halo::kernels::internal
